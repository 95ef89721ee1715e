import { capital } from "./wording.ts";

/** What Planner knows about one kind of undertaking. `{team}` in a step stands for the people to ask. */
export type Topic = {
  words: RegExp;
  title: string;
  team: string;
  /** The first is settled by the calendar, the second while the answer is written. */
  steps: readonly [string, string, string, ...string[]];
  risks: readonly (readonly [risk: string, answer: string])[];
  /** Steps to go on with when the plan exists already. */
  later: readonly string[];
};

/** What is known about an undertaking of no known kind. */
export const ANYTHING: Topic = {
  words: /(?:)/,
  title: "Plan",
  team: "the team",
  steps: [
    "Find time with {team}",
    "Write down what done looks like",
    "Split the work into pieces of a day",
    "Agree who takes what",
    "Do the riskiest piece first",
    "Look at the result together",
  ],
  risks: [
    ["It grows while we work", "New wishes go to the end of the list"],
    ["Everybody waits for one person", "Each piece has a second name on it"],
  ],
  later: ["Ask what is still unclear", "Check in again after a week", "Write down what we learned"],
};

const TOPICS: readonly Topic[] = [
  {
    words: /\b(?:launch|release|announce|announcement|rollout|roll-out|go live|ship)\b/i,
    title: "Launch plan",
    team: "marketing",
    steps: [
      "Find a date that suits {team}",
      "List what is in and what stays out",
      "Write the one-page announcement",
      "Try it with a handful of customers",
      "Brief support on the likely questions",
      "Watch the first two days together",
    ],
    risks: [
      ["The date slips", "Name the smallest version that may still go out"],
      ["Support is surprised", "Support reads the announcement first"],
      ["A quiet bug in the first wave", "Start with **5 %** and wait a day"],
    ],
    later: ["Collect the first reactions", "Thank the people who tested", "Note what to do better next time"],
  },
  {
    words: /\b(?:trip|travel|holiday|vacation|itinerary|weekend|journey)\b/i,
    title: "Trip plan",
    team: "everyone travelling",
    steps: [
      "Find days that suit {team}",
      "Sketch the route day by day",
      "Book the way there and back",
      "Reserve a place to sleep",
      "Share the packing list",
    ],
    risks: [
      ["Somebody joins late", "Keep the first evening loose"],
      ["Rain", "One indoor idea for each day"],
    ],
    later: ["Put all tickets in one place", "Agree who drives when", "Look up what is open on Sunday"],
  },
  {
    words: /\b(?:event|workshop|conference|meetup|party|offsite|off-site|webinar|retreat|dinner|birthday)\b/i,
    title: "Event plan",
    team: "the hosts",
    steps: [
      "Find a day that suits {team}",
      "Write the running order",
      "Reserve the room",
      "Send the invitations",
      "Order food, with enough without meat",
      "Name one person for questions on the day",
    ],
    risks: [
      ["Fewer guests than chairs", "Ask for a yes one week before"],
      ["The projector", "Try it the evening before"],
    ],
    later: ["Send a reminder three days before", "Print the name tags", "Ask the guests how it was"],
  },
  {
    words: /\b(?:hire|hires|hiring|recruit|recruiting|interview|interviews|candidates?|onboarding)\b/i,
    title: "Hiring plan",
    team: "the interviewers",
    steps: [
      "Find interview slots with {team}",
      "Write down what the person will do",
      "Publish the opening",
      "Agree on the same questions for everyone",
      "Meet the first candidates",
      "Decide within two days",
    ],
    risks: [
      ["Good people wait too long", "An answer within two days, also when it is no"],
      ["Everybody asks the same thing", "One subject for each interviewer"],
    ],
    later: ["Prepare the first week", "Answer those we did not choose", "Choose a mentor"],
  },
  {
    words: /\b(?:incident|outage|post-?mortem|downtime|alert|on-call)\b/i,
    title: "Incident follow-up",
    team: "on-call",
    steps: [
      "Find an hour with {team} for the review",
      "Write the timeline of what happened",
      "Separate causes from symptoms",
      "Choose the two fixes that matter most",
      "Tell customers what changes",
    ],
    risks: [
      ["It becomes a hunt for the guilty", "Write about systems, not about people"],
      ["The fixes are forgotten", "Each one gets an owner and a date today"],
    ],
    later: ["Test the alarm that stayed silent", "Check the fixes after a month", "Share the review"],
  },
  {
    words: /\b(?:migrate|migration|move|upgrade|refactoring|rewrite|switch over)\b/i,
    title: "Migration plan",
    team: "operations",
    steps: [
      "Find a quiet window with {team}",
      "List what depends on the old place",
      "Rehearse on a copy",
      "Move the first tenth and compare",
      "Move the rest",
      "Switch the old one off",
    ],
    risks: [
      ["Something still uses the old one", "Leave it readable for a week and watch who comes"],
      ["No way back", "Write the way back down **before** the first move"],
    ],
    later: ["Measure before and after", "Delete the copy", "Tell everybody the new address"],
  },
];

/** The topic a text is about; a general one when it names none. */
export function topicOf(text: string): Topic {
  return TOPICS.find((topic) => topic.words.test(text)) ?? ANYTHING;
}

/** A team the text names, else the topic's own. */
export function teamOf(text: string, topic: Topic): string {
  const named = /\b(marketing|sales|legal|engineering|finance|operations)\b/i.exec(text);
  return named ? named[1]!.toLowerCase() : topic.team;
}

/** The time the text names ("December", "Friday", "next week"), else the next two weeks. */
export function whenOf(text: string): string {
  const time =
    /\b(?:(?:January|February|March|April|June|July|August|September|October|November|December)|(?<=\b(?:in|by|of|until|before) )May|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow|(?:this|next) (?:week|month|quarter))\b/i;
  const found = time.exec(text)?.[0];
  if (found === undefined) return "next two weeks";
  return /^(?:tomorrow|this|next)/i.test(found) ? found.toLowerCase() : capital(found.toLowerCase());
}
