import { THANKS } from "./asked.ts";
import { ANYTHING, type Topic } from "./topics.ts";
import { capital, clip } from "./wording.ts";

// Words that stand before "plan" or behind it without naming what is planned.
const FILLER =
  /^(?:draft|make|write|create|prepare|do|start|give|help|need|want|build|sketch|propose|suggest|a|an|the|our|my|your|this|that|me|us|we|i|you|with|for|to|of|on|in|please|can|could|would|new|short|quick|simple|first|small|detailed|let's|lets|and|some|another|good|proper|complete)$/i;
const STOP =
  /^(?:for|of|by|in|on|at|with|and|or|but|before|after|this|next|to|until|till|from|so|that|which|please|as|if)$/i;

/** What words call a thing, without what stands before or behind the name: at most three of them. */
export function nameOf(words: string): string {
  const kept: string[] = [];
  for (const word of words.split(" ")) {
    if (kept.length === 0 && (word === "" || FILLER.test(word))) continue;
    if (STOP.test(word) || kept.length === 3) break;
    kept.push(word);
  }
  return kept.join(" ");
}

/** A title for the plan somebody asks for: what they call it, else the topic's, else what they wrote. */
export function planTitle(text: string, topic: Topic): string {
  const noun = /((?:[\p{L}\p{N}'’-]+ ){0,3})(plan|checklist|roadmap|agenda|schedule)\b/iu.exec(text);
  const before = noun?.[1]
    ?.trim()
    .split(" ")
    .filter((word) => word !== "" && !FILLER.test(word));
  if (noun && before && before.length > 0) return capital(clip(`${before.join(" ")} ${noun[2]}`, 60));
  const behind = /\b(plan|checklist|roadmap|agenda|schedule)(?: (?:for|of))? ([\p{L}\p{N}'’ -]+)/iu.exec(
    text,
  );
  const name = behind ? nameOf(behind[2]!) : "";
  if (name !== "") return capital(clip(`${name} ${behind![1]!.toLowerCase()}`, 60));
  if (topic !== ANYTHING || noun) return topic.title;
  return capital(clip(text.split(/[.?!]/)[0]!, 48)) || topic.title;
}

const clauseOf = (text: string) =>
  text
    .replace(THANKS, "")
    .split(/[.?!](?:\s|$)/)[0]!
    .replace(LEAD, "")
    .replace(/[,\s]+please$/i, "");

/** What people say before they come to what they want. */
const LEAD =
  /^(?:(?:hi|hey|hello|please|also|and|then|now|ok|okay|great|so|could|can|would|should|must|you|we|i|let's|let’s|(?:need|have|want|remember) to|don['’]t forget to|planner|@\S+)[\s,:]+)+/i;
const GOES_ON =
  /^(?:continue|go on|go ahead|keep going|carry on|proceed|do it)\b|^(?:next|more|yes)\b(?: steps?| one)?(?:,.*)?$/i;
const ASKS_FOR_PLAN =
  /^(?:draft|make|write|create|start|give|show|update|plan)\b.*\b(?:plan|check-?list|roadmap|agenda|schedule)\b/i;
/** Words that begin what is to be done; "the launch went well" adds nothing to a plan. */
const VERB =
  /^(?:add|include|prepare|draft|write|make|create|schedule|book|organi[sz]e|arrange|plan|invite|order|check|ask|send|find|tell|call|set up|review|test|try|build|design|publish|announce|launch|ship|buy|get|print|update|fix|decide|choose|agree|collect|hire|brief|translate|record)\b/i;

/** Whether a text asks to go on with the plan there is. */
export function goesOn(text: string): boolean {
  const clause = clauseOf(text);
  return GOES_ON.test(clause) || ASKS_FOR_PLAN.test(clause);
}

/** Whether a text names something to be done, or a plan. */
export function asksToPlan(text: string): boolean {
  return (
    VERB.test(clauseOf(text)) ||
    /\b(?:plan|plans|planning|check-?list|roadmap|agenda|schedule|to-?dos?)\b/i.test(text)
  );
}

/** The step that a request adds to a plan that exists ("Also prepare the FAQ."); empty when it names none. */
export function stepTitle(text: string): string {
  const clause = clauseOf(text);
  if (goesOn(text) || !VERB.test(clause)) return "";
  const step = clause.replace(
    /^(?:add|include)\s+(?:(?:a|another|one more) )?(?:(?:step|task|item|point)\b(?: to (?:the|our) plan)?[:,]?\s*(?:to\s+)?)?/i,
    "",
  );
  return capital(clip(step.replace(/\s+to (?:the|our) (?:plan|checklist|list)$/i, ""), 64));
}
