/** What Planner knows about one kind of undertaking. `{team}` in a step stands for the people to ask. */
export type Topic = {
  words: RegExp;
  title: string;
  team: string;
  /** The first is settled by the calendar, the second by the table of risks in the answer. */
  steps: readonly [string, string, string, ...string[]];
  risks: readonly (readonly [risk: string, answer: string])[];
};

/** Done by the answer itself. */
const RISKS = "Note what could go wrong";

/** What is known about an undertaking of no known kind. */
export const ANYTHING: Topic = {
  words: /(?:)/,
  title: "Plan",
  team: "the team",
  steps: [
    "Find time with {team}",
    RISKS,
    "Write down what done looks like",
    "Split the work into pieces of a day",
    "Agree who takes what",
    "Do the riskiest piece first",
  ],
  risks: [
    ["It grows while we work", "New wishes go to the end of the list"],
    ["Everybody waits for one person", "Each piece has a second name on it"],
  ],
};

const TOPICS: readonly Topic[] = [
  {
    words: /\b(?:launch|release|announce|announcement|rollout|roll-out|go live|ship)\b/i,
    title: "Launch plan",
    team: "marketing",
    steps: [
      "Find a date that suits {team}",
      RISKS,
      "List what is in and what stays out",
      "Write the one-page announcement",
      "Try it with a handful of customers",
      "Brief support on the likely questions",
    ],
    risks: [
      ["The date slips", "Name the smallest version that may still go out"],
      ["Support is surprised", "Support reads the announcement first"],
      ["A quiet bug in the first wave", "Start with **5 %** and wait a day"],
    ],
  },
  {
    words: /\b(?:trip|travel|holiday|vacation|itinerary|weekend|journey)\b/i,
    title: "Trip plan",
    team: "everyone travelling",
    steps: [
      "Find days that suit {team}",
      RISKS,
      "Sketch the route day by day",
      "Book the way there and back",
      "Reserve a place to sleep",
    ],
    risks: [
      ["Somebody joins late", "Keep the first evening loose"],
      ["Rain", "One indoor idea for each day"],
    ],
  },
  {
    words: /\b(?:event|workshop|conference|meetup|party|offsite|off-site|webinar|retreat|dinner|birthday)\b/i,
    title: "Event plan",
    team: "the hosts",
    steps: [
      "Find a day that suits {team}",
      RISKS,
      "Write the running order",
      "Reserve the room",
      "Send the invitations",
      "Order food, with enough without meat",
    ],
    risks: [
      ["Fewer guests than chairs", "Ask for a yes one week before"],
      ["The projector", "Try it the evening before"],
    ],
  },
  {
    words: /\b(?:hire|hires|hiring|recruit|recruiting|interview|interviews|candidates?|onboarding)\b/i,
    title: "Hiring plan",
    team: "the interviewers",
    steps: [
      "Find interview slots with {team}",
      RISKS,
      "Write down what the person will do",
      "Publish the opening",
      "Agree on the same questions for everyone",
      "Meet the first candidates",
    ],
    risks: [
      ["Good people wait too long", "An answer within two days, also when it is no"],
      ["Everybody asks the same thing", "One subject for each interviewer"],
    ],
  },
  {
    words: /\b(?:incident|outage|post-?mortem|downtime|alert|on-call)\b/i,
    title: "Incident follow-up",
    team: "on-call",
    steps: [
      "Find an hour with {team} for the review",
      RISKS,
      "Write the timeline of what happened",
      "Separate causes from symptoms",
      "Choose the two fixes that matter most",
      "Tell customers what changes",
    ],
    risks: [
      ["It becomes a hunt for the guilty", "Write about systems, not about people"],
      ["The fixes are forgotten", "Each one gets an owner and a date today"],
    ],
  },
  {
    words: /\b(?:migrate|migration|move|upgrade|refactoring|rewrite|switch over)\b/i,
    title: "Migration plan",
    team: "operations",
    steps: [
      "Find a quiet window with {team}",
      RISKS,
      "List what depends on the old place",
      "Write the runbook, with the way back",
      "Rehearse on a copy",
      "Move the first tenth and compare",
      "Move the rest",
    ],
    risks: [
      ["Something still uses the old one", "Leave it readable for a week and watch who comes"],
      ["No way back", "Write the way back down **before** the first move"],
    ],
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
