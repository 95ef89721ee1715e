import { CothreadError } from "../react/index.ts";
import { words } from "./words.ts";

/** Why a change of the state did not happen, and what one can do about it. */
export function refusedChange(error: unknown): string {
  const { state: say } = words;
  const code = error instanceof CothreadError ? error.code : undefined;
  if (code === "stale") return say.stale;
  if (code === "too_big") return say.tooBig;
  return say.notSaved(error instanceof Error ? error.message : String(error));
}
