import { stateWords } from "./state-words.ts";

/**
 * Every word the app says. Plain and short: what happened, and what one can do. Numbers of seconds are whole.
 */
export const words = {
  app: "Cothread",
  untitled: "New thread",
  threads: "Threads",
  menu: "Show threads",
  close: "Close",
  cancel: "Cancel",

  list: {
    start: "Start a new thread",
    filter: "Filter threads",
    filterKey: "/",
    none: "No threads yet.",
    nothingFound: (text: string) => `Nothing matches “${text}”.`,
    noArchived: "Nothing is archived.",
    showArchived: "Archived",
    hideArchived: "Back to threads",
    running: "an agent is at work",
    empty: "Nothing said yet",
    more: (title: string) => `Rename or archive ${title}`,
    rename: "Rename",
    archive: "Archive",
    unarchive: "Take out of the archive",
    failed: (reason: string) => `The list is not up to date. ${reason}`,
  },

  me: {
    menu: (name: string) => `You are ${name}. Change your name or be someone else`,
    rename: "Change name",
    someoneElse: "Be someone else in this window",
    myself: (name: string | null) => (name ? `Be ${name} again` : "Be yourself again"),
    onlyHere: "only in this window",
  },

  name: {
    title: "What should others call you?",
    titleOther: "Who are you in this window?",
    label: "Your name",
    placeholder: "e.g. Ana",
    go: "Join",
    change: "Save",
    why: "People and agents see it beside what you write. This browser remembers it.",
    whyOther: "Other windows stay who they are, so you can watch two people work in one thread.",
    hint: "To see two people at work, open “Two people” in an empty thread.",
  },

  connection: {
    live: (people: number) => `live · ${people} here`,
    liveShort: "live",
    here: (people: number) => ` · ${people} here`,
    connecting: "connecting",
    loading: "loading",
    reconnecting: "reconnecting",
    reconnectingIn: (seconds: number) => `reconnecting in ${seconds} s`,
    offline: "offline",
    unsent: (count: number) => `${count} unsent`,
    now: "Connect now",
    what: {
      live: "Everything you see is up to date.",
      away: "The server is out of reach. You can go on: what you send is kept here and goes out when it is back.",
    },
  },

  people: {
    here: "Who is here",
    hereAre: (names: string) => `Who is here: ${names}`,
    typing: (names: readonly string[]) =>
      names.length > 2
        ? `${names[0]}, ${names[1]} and ${names.length - 2} more are typing`
        : `${series(names)} ${names.length > 1 ? "are" : "is"} typing`,
    isTyping: (name: string) => `${name}, typing`,
    agent: (name: string) => `${name}, agent`,
    working: (name: string) => `${name}, at work`,
    more: (count: number) => `+${count}`,
    others: (count: number) => (count === 1 ? "one more window" : `${count} more windows`),
    twice: (name: string) => `You are ${name} in another window too.`,
    twiceBe: "Be someone else here",
    twiceOk: "Stay",
  },

  thread: {
    rename: "Rename this thread",
    title: "Title",
    earlier: (count: number) => `Show earlier messages (${count})`,
    earlierLoading: "Fetching earlier messages",
    newMessages: "New messages",
    toEnd: "To the end",
    today: "Today",
    yesterday: "Yesterday",
    archived: "This thread is archived.",
    missing: "There is no such thread.",
    missingHelp: "The link may be incomplete, or the server started with an empty store.",
    forbidden: "You may not see this thread.",
    forbiddenHelp: "Ask somebody who is in it to let you in.",
    failed: "This thread cannot be shown.",
    again: "Try again",
    toList: "Newest thread",
    loading: "Fetching the conversation",
    waiting: "Waiting for the server",
  },

  start: {
    title: "What shall we work on?",
    help: "Everybody in this thread sees what is written here, while it is written.",
    plan: "Plan something",
    planText: "Draft a launch plan for the mobile release",
    compare: "Compare two things",
    compareText: "Compare SQLite and Postgres for a small team",
    together: "Two people",
    togetherText: "Open a second window, and be someone else in it",
  },

  message: {
    note: "note",
    noteHelp: "A note starts nothing. The next run reads it.",
    by: (name: string) => `run by ${name}`,
    someone: "Someone",
    sending: "sending",
    waiting: "waits for the connection",
    delayed: (reason: string) => `sending again. ${reason}`,
    notSent: "Not sent.",
    tooBig: "It is longer than the server takes. Edit it to shorten it or to send it in parts.",
    whole: (characters: number) => `Show all ${characters.toLocaleString()} characters`,
    retry: "Retry",
    edit: "Edit",
    discard: "Discard",
    attached: (what: string) => `Attached: ${what}`,
    copy: "Copy",
    copied: "Copied",
    picture: (what: string) => `Picture: ${what || "without a description"}`,
  },

  work: {
    thinking: "Thinking…",
    thought: (seconds: number) => (seconds < 1 ? "Thought briefly" : `Thought for ${duration(seconds)}`),
    thoughtHidden: "The agent keeps this thought to itself.",
    calling: "calling…",
    running: "running…",
    noAnswer: "no answer",
    waitsForApp: "waits for an answer of the application",
    held: "waits for you",
    failed: "failed",
    args: "Sent",
    result: "Came back",
    items: (count: number) => (count === 1 ? "1 result" : `${count} results`),
    noItems: "no results",
    progress: (done: number, total: number) => `${done} of ${total}`,
    itemDone: "done",
    itemOpen: "open",
    starting: "Starting",
    working: "Working",
    still: "Still working",
    lastSeen: "At work when last seen; whether it still is, is not known",
  },

  end: {
    silent: "Finished without a message",
    stopped: "Stopped",
    stoppedBy: (name: string) => `Stopped by ${name}`,
    asked: "Waits for an answer",
    decided: {
      approved: (name: string) => `Approved by ${name}`,
      declined: (name: string) => `Declined by ${name}`,
      answered: (name: string) => `Answered by ${name}`,
      cancelled: (name: string) => `Set aside by ${name}`,
    },
    again: "Try again",
    failed: (agent: string) => `${agent} failed. Try again or choose another agent.`,
    codes: {
      SERVER_RESTART: () => "The server was restarted while this was running. What was written is kept.",
      AGENT_UNREACHABLE: (agent: string) =>
        `${agent} cannot be reached. Check that it is running, then try again.`,
      AGENT_HTTP: (agent: string) => `${agent} answered with an error. Try again later.`,
      AGENT_TIMEOUT: (agent: string) =>
        `${agent} did not answer for too long. Try again or choose another agent.`,
      AGENT_TRUNCATED: (agent: string) => `The connection to ${agent} broke off. Try again.`,
      AGENT_INVALID: (agent: string) =>
        `${agent} sent something that is not AG-UI. Its maker can tell from the details.`,
      AGENT_TOO_BIG: (agent: string) => `${agent} sent more than this server takes at once.`,
      AGENT_FAILED: (agent: string) => `${agent} failed. Try again or choose another agent.`,
      STORE_FAILED: () => "The server could not write this down. Check its disk, then try again.",
    } as Readonly<Record<string, (agent: string) => string>>,
  },

  state: stateWords,

  question: {
    waits: (agent: string) => `${agent} waits for an answer. Anyone who can write here can give it.`,
    readers: (agent: string) => `${agent} waits for an answer of somebody who can write here.`,
    answered: (name: string) => `Answered by ${name}`,
    field: "Answer",
    choose: "Choose",
    answer: "Answer",
    approve: "Approve",
    approveChanged: "Approve with changes",
    decline: "Decline",
    cancel: "Set aside",
    left: (time: string) => `expires in ${time}`,
    over: "The time for an answer is over",
    unreadable: {
      empty: (field: string) => `${field || "An answer"} is needed.`,
      number: (field: string) => `${field || "The answer"} must be a number.`,
      json: (field: string) => `${field || "The answer"} must be JSON: text in quotes, for one.`,
    },
  },

  tools: {
    date: "A date",
    yours: "Whoever sits here picks it, because this window was asked. The others see that it is.",
    take: "Take this day",
    refuse: "Not now",
    withName: (name: string, tool: string) => `${name} is asked (${tool})`,
    nobody: (tool: string) => `Waits for a window that can do this (${tool})`,
    giveUp: "give up",
  },

  queue: {
    waiting: (count: number) => `${count} waiting`,
    quote: (text: string) => `“${text}”`,
    withdraw: "withdraw",
    edit: "edit",
    sooner: "sooner",
    save: "save",
    leave: "leave it",
    field: "The message that waits",
    more: (count: number) => `${count} more`,
    fewer: "fewer",
    gone: "Too late: it runs already.",
  },

  composer: {
    label: "Message",
    placeholder: (agent: string | null) => (agent ? `Ask ${agent}, or tell the others` : "Write a message"),
    placeholderNote: "A note for everybody here. It starts nothing.",
    send: "Send",
    queue: "Queue",
    instead: "Say this instead",
    placeholderInstead: "Answer above, or say something else instead",
    note: "Note",
    addNote: "Add note",
    noteHelp: "When this is on, what you send is a note: it starts nothing",
    stop: "Stop",
    stopping: "Stopping",
    stopAway: "Stopping needs the connection",
    agent: "Who answers",
    shared: "Shared draft",
    sharedHelp: "Everybody here sees this draft and can write in it. Press to write one that only you see.",
    alone: "Private draft",
    aloneHelp: "Only you see this draft. Press to share what stands here with everybody.",
    tooMuch: "That is too long to write together, so this draft is private now.",
    sentBy: (name: string) => `${name} has sent it.`,
    sentByMe: "You have sent it in another window.",
    changed: "The draft has changed meanwhile. Look at it, and send it again.",
    notSent: (reason: string) => `Not sent. ${reason}`,
    reader: "You can read here.",
  },

  refused: {
    title: "The server does not let this window in.",
    code: {
      title: "This server asks for a join code.",
      help: "Open the link that you were given, or put the link or the code at its end in here.",
      label: "Join code or link",
      go: "Join",
    },
    wrongCode: {
      title: "This join code is not right.",
      help: "Codes change when the server starts anew. Ask for the link it printed, and put it in here.",
    },
    guests: "Ask whoever runs the server to start it with --share, and to send you the link it prints.",
    replaced: {
      title: "This thread goes on in another window.",
      help: "The same window was opened twice. Go on here, and the other one lets go.",
      go: "Go on here",
    },
    version: {
      title: "The server has another version than this page.",
      help: "Reload the page to get the one that fits.",
      go: "Reload",
    },
    other: "If this does not pass, tell whoever runs the server what stands here.",
    again: "Try again",
    said: (reason: string) => `The server says: ${reason}`,
  },

  keys: {
    title: "Keys",
    open: "Keys",
    rows: [
      ["/", "filter threads"],
      ["n", "new thread"],
      ["j  k", "next thread, thread before"],
      ["Enter", "send"],
      ["Shift Enter", "new line"],
      ["Esc", "stop what is running, or close"],
      ["?", "this"],
    ] as readonly (readonly [string, string])[],
  },

  crash: {
    title: "Something in this page broke.",
    help: "Nothing in the thread is lost. Reload to go on.",
    reload: "Reload",
  },
} as const;

/** "a", "a and b", "a, b and c". */
export function series(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** A span of time as one says it: `4 s`, `2 min 5 s`. @param seconds whole ones */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60;
  if (minutes === 0) return `${rest} s`;
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
