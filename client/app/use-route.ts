import { useSyncExternalStore } from "react";
import { threadHash } from "./route.ts";

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

/** The part of the address behind `#`. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => window.location.hash);
}

/** Goes to a thread. @param replace leaves no trace of where one was */
export function goTo(thread: string, replace = false): void {
  if (replace) window.location.replace(threadHash(thread));
  else window.location.hash = threadHash(thread);
}

/** Goes to the door, from where the newest thread opens. */
export function goToDoor(): void {
  window.location.hash = "";
}
