/** A promise that is opened or barred from outside; once barred, it can begin anew. */
export interface Gate {
  readonly promise: Promise<void>;
  open(): void;
  /** Nothing happens when it is open: who came through is through. */
  bar(error: Error): void;
  /** A new promise for those who ask from now on, when the present one was barred. */
  renew(): void;
}

/** Makes a {@link Gate}. */
export function createGate(): Gate {
  let state: "shut" | "open" | "barred" = "shut";
  let resolve: () => void;
  let reject: (error: Error) => void;
  const make = () => {
    const fresh = new Promise<void>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    // Whoever waits hears of it; nobody has to.
    fresh.catch(() => {});
    return fresh;
  };
  let promise = make();
  return {
    get promise() {
      return promise;
    },
    open() {
      if (state === "shut") state = "open";
      resolve();
    },
    bar(error) {
      if (state === "shut") state = "barred";
      reject(error);
    },
    renew() {
      if (state !== "barred") return;
      state = "shut";
      promise = make();
    },
  };
}
