import { ANYTHING, type Topic } from "./topics.ts";
import { capital, clip } from "./wording.ts";

// Words that stand before "plan" or behind it without naming what is planned.
const FILLER =
  /^(?:draft|make|write|create|prepare|do|start|give|help|need|want|build|sketch|propose|suggest|a|an|the|our|my|your|this|that|me|us|we|i|you|with|for|to|of|on|in|please|can|could|would|new|short|quick|simple|first|small|detailed|let's|lets|and|some|another|good|proper|complete)$/i;
const STOP =
  /^(?:for|by|in|on|at|with|and|or|but|before|after|this|next|to|until|till|from|so|that|which|please|as|if)$/i;

function nameOf(words: string): string {
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

/** The step that a request adds to a plan that exists ("Also prepare the FAQ."); empty when it names none. */
export function stepTitle(text: string): string {
  const clause = text.split(/[.?!](?:\s|$)/)[0]!;
  const lead =
    /^(?:(?:hi|hey|hello|please|also|and|then|now|ok|okay|great|thanks|so|could|can|would|you|we|let's|let’s|planner|@\S+)[\s,:]+)+/i;
  const rest = clause.replace(lead, "").replace(/[,\s]+please$/i, "");
  const goesOn =
    /^(?:continue|go on|go ahead|keep going|carry on|proceed|next|more|yes|do it|what(?:'s|’s)? next)\b/i;
  // asking for the plan itself is no step of it
  const asksForPlan =
    /^(?:draft|make|write|create|start|give|show|update|plan)\b.*\b(?:plan|checklist|roadmap|agenda)\b/i;
  return goesOn.test(rest) || asksForPlan.test(rest) ? "" : capital(clip(rest, 64));
}
