import type { CothreadError } from "../react/index.ts";
import { words } from "./words.ts";

/** What to say to somebody the server does not let in, and what they can do about it. */
export type Refusal = { kind: "code" | "replaced" | "version" | "other"; title: string; help: string };

/**
 * Reads a refusal.
 * @param error that of the connection, with the socket's close code in its details
 */
export function readRefusal(error: CothreadError | undefined): Refusal {
  const close = (error?.details as { close?: unknown } | undefined)?.close;
  const reason = error?.message ?? "";
  // A server that is not shared takes nobody from elsewhere, whatever code they have.
  if (close === 4401 && /join code/i.test(reason))
    return { kind: "code", title: words.refused.code.title, help: words.refused.code.help };
  if (close === 4409)
    return { kind: "replaced", title: words.refused.replaced.title, help: words.refused.replaced.help };
  if (close === 4426)
    return { kind: "version", title: words.refused.version.title, help: words.refused.version.help };
  const guests = close === 4401 || close === 4403;
  return {
    kind: "other",
    title: words.refused.title,
    help: guests ? words.refused.guests : words.refused.other,
  };
}
