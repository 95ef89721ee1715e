import { type ClientSnapshot, CothreadError } from "../react/index.ts";
import { readRoute } from "./route.ts";
import { words } from "./words.ts";

/** What to say to somebody the server does not let in, and what they can do about it. */
export type Refusal = { kind: "code" | "replaced" | "version" | "other"; title: string; help: string };

const UNAUTHORIZED = 4401;
const CODE = /join code/i;
/** What a server says that lets nobody in from where this window is. */
const FOR_GOOD = /join code|takes guests/i;

/**
 * Why this window is not let in; `undefined` while it may be. A client tries a few times before it gives up,
 * in case a token was out of date; a join code does not become right by that, so it is said at once.
 */
export function refusalOf(
  connection: Pick<ClientSnapshot, "status" | "reason" | "error">,
): CothreadError | undefined {
  const { status, reason = "", error } = connection;
  if (status === "refused") return error ?? new CothreadError("refused", reason);
  const waits = status === "connecting" || status === "reconnecting" || status === "offline";
  if (!waits || !FOR_GOOD.test(reason)) return undefined;
  return new CothreadError("refused", reason, false, { close: UNAUTHORIZED });
}

/**
 * Reads a refusal.
 * @param error that of the connection, with the socket's close code in its details
 * @param join the join code this window has
 */
export function readRefusal(error: CothreadError | undefined, join: string | null = null): Refusal {
  const close = (error?.details as { close?: unknown } | undefined)?.close;
  const reason = error?.message ?? "";
  const { refused } = words;
  // A server that is not shared takes nobody from elsewhere, whatever code they have.
  if (close === UNAUTHORIZED && CODE.test(reason)) {
    const { title, help } = join === null ? refused.code : refused.wrongCode;
    return { kind: "code", title, help };
  }
  if (close === 4409) return { kind: "replaced", title: refused.replaced.title, help: refused.replaced.help };
  if (close === 4426) return { kind: "version", title: refused.version.title, help: refused.version.help };
  const guests = close === UNAUTHORIZED || close === 4403;
  return { kind: "other", title: refused.title, help: guests ? refused.guests : refused.other };
}

/** The join code in what somebody typed or pasted, which may be the whole link; empty when there is none. */
export function codeIn(text: string): string {
  const typed = text.trim();
  const at = typed.indexOf("#");
  const code = at < 0 ? typed.replace(/^join=/i, "") : (readRoute(typed.slice(at)).join ?? "");
  return code.trim().toUpperCase();
}
