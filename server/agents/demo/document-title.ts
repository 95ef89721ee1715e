import type { DocumentText } from "./document-texts.ts";
import { nameOf } from "./titles.ts";
import { whenOf } from "./when.ts";
import { capital, clip, inMarkdown } from "./wording.ts";

const SUBJECT =
  /\b(?:of|for|about)\s+([^.?!,;:]+)|\b(?:trip|journey|holiday|vacation|weekend|travel)\b[^.?!,;:]*?\bto\s+([^.?!,;:]+)/gi;
/** Who a document is for, which is not what it is about. */
const READERS = /^(?:everyone|everybody|all|team|customers?|people|users?|press|next|it|them)\b/i;

/** What a text says it is about ("our mobile app" gives "mobile app"); empty when it says nothing like that. */
function subjectOf(text: string): string {
  for (const [, plain, goal] of text.matchAll(SUBJECT)) {
    const name = nameOf(plain ?? goal!);
    const isTime = whenOf(`in ${name}`).text !== whenOf("").text;
    if (name !== "" && !isTime && !READERS.test(name)) return inMarkdown(clip(name, 60));
  }
  return "";
}

/**
 * What a fresh document is called: "Mobile app: announcement".
 * @param plan the plan's title, safe inside Markdown; empty without a plan
 */
export function documentTitle(text: string, plan: string, { name }: DocumentText): string {
  const subject =
    subjectOf(text) || plan.replace(/ (?:plan|check-?list|roadmap|agenda|schedule|follow-up)$/i, "");
  const kind = name.replace(/^the /, "");
  return capital(subject === "" || subject.toLowerCase() === "plan" ? kind : `${subject}: ${kind}`);
}
