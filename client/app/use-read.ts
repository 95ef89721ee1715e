import { useEffect } from "react";
import type { Thread } from "../react/index.ts";

/** Marks a thread as read while its page is visible and its end is in sight. */
export function useRead(thread: Thread, atEnd: boolean): void {
  useEffect(() => {
    if (!atEnd) return;
    const look = () => {
      if (document.visibilityState === "visible") thread.read();
    };
    look();
    const stop = thread.subscribe(look);
    document.addEventListener("visibilitychange", look);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", look);
    };
  }, [thread, atEnd]);
}
