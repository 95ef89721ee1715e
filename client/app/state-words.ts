/** What the app says about the state that people and agents share. */
export const stateWords = {
  panel: "What is shared here",
  show: "Show plan and data",
  hide: "Hide plan and data",
  tabs: { plan: "Plan", document: "Document", data: "Data" },
  progress: (done: number, total: number) => `${done} of ${total} done`,
  active: "under way",
  by: (name: string, isNow: boolean) => (isNow ? `${name}, just now` : name),
  edit: "Edit",
  done: "Done",
  field: "Text of the document",
  saving: "saving",
  saved: "saved",
  waiting: "waits for the connection",
  emptyDocument: "Nothing is written here yet.",
  removed: "The document was removed while you were in it. This is what stood in it.",
  putBack: "Put it back",
  stale: "Somebody has removed this meanwhile. Look at what is there now, and try again.",
  tooBig: "The server does not take that much. Make it shorter, and try again.",
  notSaved: (reason: string) => `This was not saved. ${reason}`,
  items: (count: number) => (count === 1 ? "1 item" : `${count} items`),
  fields: (count: number) => (count === 1 ? "1 field" : `${count} fields`),
  whole: "show all",
  more: (count: number) => `Show ${count} more`,
  undo: "Undo what this run changed",
  undoing: "Undoing",
  undone: (name: string) => `${name} has undone what this run changed.`,
  left: (count: number) =>
    count === 1
      ? "1 thing was left because others have changed it since."
      : `${count} things were left because others have changed them since.`,
  runMenu: "More about this run",
  stock: {
    name: "As a stock client",
    about:
      "What AG-UI alone would show since this window opened the thread: a snapshot replaces everything, a patch hits whatever stands at its index.",
    differs: (count: number) =>
      count === 0 ? "no difference" : count === 1 ? "1 thing differs" : `${count} things differ`,
    lost: "would be lost",
    back: "would be back",
    unticked: "the tick would be lost",
    ticked: "would be ticked again",
    status: "would be somewhere else",
    text: (text: string) => `“${text}” would be lost`,
  },
};
