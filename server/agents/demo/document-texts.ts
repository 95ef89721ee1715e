import type { Topic } from "./topics.ts";

/** A short document about one kind of undertaking, to be made one's own. Markdown, without its title. */
export type DocumentText = {
  /** What people call such a document: "the announcement". */
  name: string;
  /** Finds one by its name in a request. */
  words: RegExp;
  /** The step of a plan that is done once it is drafted; without one, no step says so. */
  step?: RegExp;
  /** Its first paragraph in two wordings; a rewrite takes the other one. */
  openings: readonly [string, string];
  sections: readonly (readonly [heading: string, text: string])[];
};

const BY_TITLE: Readonly<Record<string, DocumentText>> = {
  "Launch plan": {
    name: "the announcement",
    words: /\b(?:announcement|press release)\b/i,
    step: /^(?:write|draft) .*\bannouncement\b/i,
    openings: [
      "From the day we name here, everybody can use what a handful of customers have tried so far. It does one thing better than before, and this page says which.",
      "What a few customers have tried is now for everybody. This page says what it does, for whom, and where to ask.",
    ],
    sections: [
      ["What is new", "One sentence for each thing, in the words of somebody who uses it. No list of fixes."],
      [
        "Who it is for",
        "People who have asked for it, by name where they allow it. Who can wait is told too.",
      ],
      [
        "Where to ask",
        "One address, and how soon somebody answers. Support has read this page before it goes out.",
      ],
    ],
  },
  "Trip plan": {
    name: "the itinerary",
    words: /\bitinerary\b/i,
    step: /^(?:write|draft|sketch) .*\b(?:itinerary|route)\b/i,
    openings: [
      "We travel together, and this page has what everyone needs on the way. Times are local times.",
      "All that everyone needs on the way stands here, in the order of the days. Times are local times.",
    ],
    sections: [
      ["Getting there", "Train or car, who drives, and the last connection one may still take."],
      ["Day by day", "One thing before noon, one after, and the evening open. Rain has an idea of its own."],
      ["In your pocket", "Address of the first night, one number to call, and who holds the bookings."],
    ],
  },
  "Event plan": {
    name: "the running order",
    words: /\brunning order\b/i,
    step: /^(?:write|draft) .*\brunning order\b/i,
    openings: [
      "This is the day from the first chair to the last lamp. Whoever does something finds it here with a time.",
      "Everybody who does something that day finds it here, with a time and a name.",
    ],
    sections: [
      ["Before the doors open", "Room, sound, projector, water. The projector was tried the evening before."],
      ["The programme", "Who speaks, for how long, and who brings the next one to the front."],
      ["Afterwards", "Who tidies up, where lost things go, and one question to every guest."],
    ],
  },
  "Hiring plan": {
    name: "the role description",
    words: /\b(?:role|job) description\b/i,
    step: /^(?:write|draft) .*\b(?:what the person will do|(?:role|job) description)\b/i,
    openings: [
      "We look for one person, and this page says what they will do in their first months. It is written for them, not for us.",
      "This page is for the person we look for: what there is to do, with whom, and how we decide.",
    ],
    sections: [
      ["What you will do", "Three things that are waiting, and one that nobody has thought of yet."],
      ["Who you work with", "The people you would see every day, and who decides what."],
      ["How we decide", "Two talks, the same questions for everyone, an answer within two days."],
    ],
  },
  "Incident follow-up": {
    name: "the review",
    words: /\b(?:review|post-?mortem)\b/i,
    openings: [
      "Something broke, people noticed, and it works again. This page says what happened, without looking for the guilty.",
      "It works again. What happened, why, and what changes is written here, about systems and not about people.",
    ],
    sections: [
      ["What happened", "The timeline, from the first sign to the last fix, in the times of one clock."],
      ["Why it could happen", "Causes apart from symptoms, and what made it take longer than it had to."],
      ["What changes", "Two fixes, each with an owner and a date. What we leave as it is stands here too."],
    ],
  },
  "Migration plan": {
    name: "the runbook",
    words: /\brunbook\b/i,
    step: /^(?:write|draft) .*\brunbook\b/i,
    openings: [
      "Everything moves from the old place to the new one, and this page is read while it moves. Each step says how one sees that it worked.",
      "This page is read while things move. Each step has a sign that it worked, and a way back.",
    ],
    sections: [
      ["Before", "What depends on the old place, and who was told. The rehearsal is done."],
      ["The move", "The first tenth, a comparison, then the rest. Nobody deploys meanwhile."],
      ["The way back", "Until when it is open, who may decide to take it, and the command itself."],
    ],
  },
};

const BRIEF: DocumentText = {
  name: "the brief",
  words: /\b(?:brief|one-?pager)\b/i,
  step: /^(?:write|draft) .*\b(?:what done looks like|brief)\b/i,
  openings: [
    "This page says what we are about to do, and how we will know that it is done. It is short so that it is read.",
    "What we are about to do fits on this page, and so does how we will know that it is done.",
  ],
  sections: [
    ["What done looks like", "One sentence that somebody outside of the team can check."],
    ["What stays out", "Wishes that are good and are not for now. They go to the end of the list."],
    ["Who does what", "Each piece has a name on it, and a second one for the day the first is away."],
  ],
};

const INVITATION: DocumentText = {
  name: "the invitation",
  words: /\binvitation\b/i,
  step: /^(?:write|draft) .*\binvitations?\b/i,
  openings: [
    "You are invited. When and where stands below, and so does what to bring, which is little.",
    "We would like you to come. This page says when, where, and until when you may still decide.",
  ],
  sections: [
    ["When and where", "The day, the door, and the time at which it begins without waiting."],
    ["What happens", "Three lines about the day, in their order. Food is among them, also without meat."],
    ["Say yes or no", "One address and one date. A no is an answer too, and chairs are counted by it."],
  ],
};

const NAMED: readonly DocumentText[] = [...Object.values(BY_TITLE), INVITATION, BRIEF];

/** The document that a text calls by its name; `undefined` when it calls none. */
export function documentNamed(text: string): DocumentText | undefined {
  return NAMED.find(({ words }) => words.test(text));
}

/** The document that fits a topic. */
export function documentOf({ title }: Topic): DocumentText {
  return BY_TITLE[title] ?? BRIEF;
}
