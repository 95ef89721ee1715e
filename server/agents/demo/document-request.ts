/** What is to be done to the document. */
export type Change = "draft" | "fresh" | "rewrite" | "shorten" | "extend" | "section";

/** Which part of the document somebody speaks of; `named` is a section, by words of its heading. */
export type Part = { at: "whole" | "opening" | "ending" } | { at: "named"; name: string };

/** What somebody asks of the document. `about` is what a new section is about; empty when nothing is said. */
export type DocumentRequest = { change: Change; part: Part; about: string };

const WHOLE =
  "(?:document|announcement|press release|one-?pager|itinerary|invitation|running order|(?:role|job) description|runbook|review|post-?mortem|write-?up|(?<!(?:landing|home|web|start|status) )page|text|draft|brief(?= (?:for|about|on|of|and|from)\\b|[^\\w ]|$))";
const PLACE =
  "(?:intro(?:duction)?|opening|beginning|start|ending|conclusion|paragraph|section|chapter|sentence)";
/** Words that say that something else is meant: "draft the launch plan and the announcement" asks for a plan. */
const OTHER = "(?:plan|check-?list|roadmap|agenda|schedule|code|script|function|regex|query|test)s?\\b";
const BETWEEN = `(?: (?!${OTHER})[^\\s.?!,;:]+){0,4}?`;
/** "add the announcement to the plan" is a step. */
const NOT_A_STEP = `(?! ${OTHER})(?![^.?!]*\\b(?:to|on|into) (?:the|our) (?:plan|(?:check-?)?list|roadmap|agenda)\\b)`;
const SHORTER = "(?:shorter|briefer|tighter|crisper)";
const MADE = `(?:${SHORTER}|longer|better|clearer)`;

/** Asks for something to be written in the document. */
export const ASKS_FOR_DOCUMENT = new RegExp(
  [
    `\\b(?:draft|write|rewrite|rephrase|reword|redo|revise|shorten|cut|trim|tighten|condense|extend|expand|lengthen|continue|finish|improve|polish)\\b${BETWEEN} (?:${WHOLE}|${PLACE})\\b${NOT_A_STEP}`,
    `\\b(?:add|append)\\b${BETWEEN} ${PLACE}\\b${NOT_A_STEP}`,
    `\\bmake (?:us |me )?an? (?:\\S+ ){0,2}?${WHOLE}\\b${NOT_A_STEP}`,
    `\\bmake (?:it|this|that|the (?:\\S+ ){0,2}?(?:${WHOLE}|${PLACE}))(?: (?:a|bit|little|lot|much|even))* ${MADE}\\b`,
    "\\b(?:rewrite|rephrase|shorten|tighten|condense) (?:it|this|that)\\b",
    `\\bstart (?:over )?(?:with )?(?:the|our|a|an)(?: (?:new|fresh))? ${WHOLE}\\b`,
    "\\b(?:continue|keep|go on) writing\\b",
  ].join("|"),
  "i",
);

const OVER = /\b(?:start(?:ing)?\b.*\bover|from scratch|anew)\b/i;
const ANOTHER = new RegExp(
  `\\b(?:write|draft|make|with) (?:me |us )?(?:a|an|the) (?:(?:whole|completely|entirely) )?(?:new|fresh|different) (?:one-page )?${WHOLE}\\b`,
  "i",
);
const ADD = new RegExp(
  `\\b(?:add|append|write|draft)\\b${BETWEEN} (?:section|paragraph|chapter|sentence)\\b(?!.*\\b${MADE}\\b)`,
  "i",
);
const ABOUT =
  /\b(?:section|paragraph|chapter|sentence)s?\s+(?:about|on|for|called|named|with)\s+(?:the |our )?(.+)/i;
const NAMED =
  /\b(?:section|paragraph|part|chapter)\s+(?:about|on|for|called|named|under)\s+(?:the |our )?(.+?)(?:(?: a)?(?: bit| little| lot| much)* (?:shorter|longer|briefer|tighter|crisper|better|clearer)\b|$)|\bthe (.+?) (?:section|paragraph|part|chapter)\b/i;
const ORDINAL = /^(?:(?:very )?(?:first|opening|last|final|closing|next|whole|same))$/i;

/** What a request for the document means. */
export function readDocumentRequest(text: string): DocumentRequest {
  const clause = text.split(/[.?!;](?:\s|$)/).find((one) => ASKS_FOR_DOCUMENT.test(one)) ?? text;
  const about = clean(ABOUT.exec(clause)?.[1] ?? "");
  // where a section is to be added, "anew" or "a new page" belongs to what it is about
  if (ADD.test(clause)) return { change: "section", part: { at: "whole" }, about };
  if (OVER.test(text) || ANOTHER.test(text)) return { change: "fresh", part: { at: "whole" }, about: "" };
  return { change: changeIn(clause), part: partIn(clause), about: "" };
}

function changeIn(clause: string): Change {
  const has = (words: string) => new RegExp(`\\b(?:${words})\\b`, "i").test(clause);
  if (has(`shorten|${SHORTER}|cut|trim|tighten|condense`)) return "shorten";
  if (has("extend|expand|lengthen|longer|continue|finish|writing|add|append")) return "extend";
  if (has("rewrite|rephrase|reword|redo|revise|improve|polish|better|clearer")) return "rewrite";
  return partIn(clause).at === "whole" ? "draft" : "rewrite";
}

function partIn(clause: string): Part {
  const [, behind, before] = NAMED.exec(clause) ?? [];
  const name = clean(behind ?? before ?? "");
  if (name !== "" && !ORDINAL.test(name)) return { at: "named", name };
  if (/\b(?:intro(?:duction)?|opening|beginning|start|first paragraph)\b/i.test(clause))
    return { at: "opening" };
  if (/\b(?:ending|conclusion|(?:last|final|closing) paragraph)\b/i.test(clause)) return { at: "ending" };
  return { at: "whole" };
}

const clean = (words: string) => words.replace(/[\s.?!,;:]+$|[,\s]+please\b.*$/gi, "").trim();
