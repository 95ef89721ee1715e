/** Where in the app somebody is: in a thread, or at its door. */
export type Route = { thread: string | null; join: string | null };

/**
 * Reads the part of an address behind `#`: `/t/THREAD`, `join=CODE`, or `/t/THREAD?join=CODE`. Routes stand
 * there because the page may be served under any path, and because what stands there is sent to no server.
 */
export function readRoute(hash: string): Route {
  const text = hash.replace(/^#/, "");
  const [path = "", query = ""] = text.startsWith("/") ? text.split("?", 2) : ["", text];
  const part = /^\/t\/([^/]+)$/.exec(path)?.[1];
  return { thread: part === undefined ? null : decoded(part), join: new URLSearchParams(query).get("join") };
}

/** The address of a thread, to be put behind the page's own. */
export function threadHash(thread: string): string {
  return `#/t/${encodeURIComponent(thread)}`;
}

/** The same with a join code, for a window that does not have it yet. */
export function inviteHash(thread: string, join: string | null): string {
  return join === null ? threadHash(thread) : `${threadHash(thread)}?${new URLSearchParams({ join })}`;
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
