import { contentToText, type Message } from "@ag-ui/core";
import { ASKS_FOR_DOCUMENT } from "./document-request.ts";
import { clip } from "./wording.ts";

/** What sort of answer a request gets. */
export type Kind = "chat" | "document" | "date" | "invite" | "plan" | "explain" | "code";

/** Something a person said; `name` when the message carries one. */
export type Said = { name?: string; text: string };

/** What people want from this run: `main` decides the answer, `others` spoke up since the last one too. */
export type Asked = { kind: Kind; main: Said; others: Said[] };

const ASKS_FOR_DATE =
  /\b(?:pick|choose|find|fix|set|agree on|ask for|settle)(?: (?:us|me))? (?:a|the|some) (?:\S+ )?(?:date|day)\b/i;

const ASKS_TO_INVITE =
  /\binvite\b(?! (?:to|in) the)|\bsend(?: out)?(?: (?:the|an?|our|that))? (?:invitations?|invites?|announcement|e-?mails?|mails?|newsletter)\b/i;

/** Where two begin at the same place, the first one counts. */
const KEYWORDS: Record<Exclude<Kind, "chat">, RegExp> = {
  document: ASKS_FOR_DOCUMENT,
  date: ASKS_FOR_DATE,
  invite: ASKS_TO_INVITE,
  plan: /\b(?:plan|plans|planning|checklist|check-list|roadmap|schedule|agenda|timeline|to-?dos?|steps?|organi[sz]e|prepare|draft|launch|arrange|add|continue|go on|keep going|carry on|next)\b/i,
  explain:
    /\b(?:explain|compare|comparison|differences?|differ|versus|vs|why|what(?:'s|’s| is| are| does)|how (?:does|do|is|are)|pros and cons|trade-?offs?|which|should we|should i)\b|\bbetter\b.*(?:\bor\b|\?)/i,
  code: /```|\b(?:code|coding|scripts?|functions?|regex|regexp|sql|query|bash|shell|snippet|typescript|javascript|python|implement|refactor)\b/i,
};

/** Asks where the plan stands. */
export const STATUS =
  /^(?:status|where (?:are we|do we stand)|how far|what(?:'s|’s| is) (?:left|open|done|missing|next))\b/i;

/** Asks for a joke. */
export const JOKE = /\b(?:jokes?|make (?:me|us) (?:laugh|smile)|something funny)\b/i;

/** Thanks for something, whatever that was. */
export const THANKS = /^(?:(?:many )?thanks?|thank you|thx|cheers)\b[^.?!,;]*[.?!,;\s]*/i;

const SMALL_TALK =
  /^(?:hi|hiya|hello|hey|howdy|good (?:morning|afternoon|evening)|ok|okay|great|cool|nice|perfect|lovely|well done|bye|goodbye|see you|who are you|what can you do|help)\b/i;

/** Which keyword comes first decides: "explain the plan" is a question, "plan the script" a plan. */
function namedKind(whole: string): Kind | undefined {
  const text = whole.replace(THANKS, "");
  let kind: Kind | undefined;
  let first = Number.POSITIVE_INFINITY;
  for (const [name, pattern] of Object.entries(KEYWORDS) as [Kind, RegExp][]) {
    const at = text.search(pattern);
    if (at >= 0 && at < first) {
      kind = name;
      first = at;
    }
  }
  const short = text.split(" ").length <= 8;
  if (text === "" || (short && (STATUS.test(text) || JOKE.test(text)))) return "chat";
  return kind ?? (short && SMALL_TALK.test(text) ? "chat" : undefined);
}

/** A sentence that names nothing is a question when it asks, else something said by the way. */
function kindOf(text: string): Kind {
  return namedKind(text) ?? (text.endsWith("?") ? "explain" : "chat");
}

/** How much of a message is read, in characters; the patterns below need not be fast on a whole book. */
const READ = 2_000;

function said(message: Message): Said | null {
  if (message.role !== "user") return null;
  const text = clip(contentToText(message.content), READ);
  if (text === "") return null;
  const name = clip(message.name ?? "", 40);
  return name === "" ? { text } : { name, text };
}

/**
 * Reads what people said since an agent last spoke; when nobody did (an answer is made again), what that
 * answer was about. The newest request decides, a remark when there is none, small talk when there is
 * nothing else.
 */
export function readAsked(messages: readonly Message[]): Asked {
  const open: Said[] = [];
  // from the end, so that a long thread costs no more than a short one
  for (const message of messages.toReversed()) {
    if (message.role === "assistant" && open.length > 0) break;
    const one = said(message);
    if (one) open.unshift(one);
  }
  const asks = (one: Said) => (namedKind(one.text) ?? "chat") !== "chat";
  const says = (one: Said) => kindOf(one.text) !== "chat";
  const main = open.findLast(asks) ?? open.findLast(says) ?? open.at(-1) ?? { text: "" };
  return { kind: kindOf(main.text), main, others: open.filter((one) => one !== main) };
}
