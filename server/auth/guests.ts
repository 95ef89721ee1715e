import { createHash, randomInt, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Authenticate } from "./authenticator.ts";
import { hostName, isLoopback, isLoopbackUrl } from "./loopback.ts";

/**
 * Guests say who they are; nobody checks. They may come from this machine only, or, with a join code, from
 * wherever they can reach the server. From this machine comes who connects from a loopback address and to
 * one: a request that was addressed to another name went through a proxy, or belongs to a web page that made
 * a name of its own point here. A page that came from elsewhere is not from this machine either, whatever the
 * proxy before it made of the address. A guest's user id begins with `guest:`, so that it can never be taken
 * for the id of somebody who signed in.
 * @param joinCode what `hello.token` must be for those who come from elsewhere; without it they are refused
 * @param anybody lets them in from elsewhere all the same
 * @param proxied others come through a proxy, which may leave no trace of itself: nobody counts as local then
 */
export function guests(joinCode?: string, anybody = false, proxied = false): Authenticate {
  return async (request, hello) => {
    if (!anybody && (proxied || !isLocal(request))) {
      if (joinCode === undefined) return { refused: "This server takes guests from its own machine only." };
      if (!hello.token || !same(hello.token, joinCode))
        return { refused: "The join code is missing or wrong. Open the link again that you were given." };
    }
    if (!hello.user) return { refused: "Say who you are: hello.user with id and name is missing." };
    const name = hello.user.name.trim();
    if (name === "") return { refused: "The name is empty." };
    return { tenant: "default", user: { id: `guest:${hello.user.id}`, name } };
  };
}

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const { host, origin } = headers;
  const forwarded = headers["x-forwarded-for"] ?? headers.forwarded;
  // Programs that are no browsers send no Origin.
  const page = origin === undefined || isLoopbackUrl(origin);
  return (
    forwarded === undefined && page && isLoopback(socket.remoteAddress ?? "") && isLoopback(hostName(host))
  );
}

// No 0/O or 1/I: the code is read aloud and typed.
const LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A new join code: ten letters and digits, 50 bits. It lives as long as the server process. */
export function newJoinCode(): string {
  return Array.from({ length: 10 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

// Hashed first: both sides then have one length, and time tells nothing about the code.
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
