/** What the app says when a server does not let a window in; part of `words`. */
export const refusedWords = {
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
} as const;
