import { environment, storage } from "./environment.ts";

const GUEST_KEY = "cothread.guest";
const CLIENT_KEY = "cothread.client";
const ID_LENGTH = 22;

/** Numbers in [0, 1) that nobody can foresee. Works in pages without https too, unlike `randomUUID`. */
export function secureRandom(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] as number) / 2 ** 32;
}

/** A new id: 22 characters of a–z and 0–9, some 113 bits. */
export function makeId(random: () => number): string {
  return Array.from({ length: ID_LENGTH }, () => Math.floor(random() * 36).toString(36)).join("");
}

/** The guest id of this browser, made once; a new one where nothing can be kept. */
export function guestId(random: () => number): string {
  const kept = storage("localStorage");
  const id = kept?.getItem(GUEST_KEY) || makeId(random);
  remember(kept, GUEST_KEY, id);
  return id;
}

/**
 * The client id of this tab. It outlives a reload in sessionStorage; a Web Lock on it tells a duplicated tab,
 * which has a copy of that storage, to take another. Without locks (no browser, or a page without https) the
 * id is new each time: two tabs with one id would close each other's connection.
 * @returns the id, and a function that gives up the lock
 */
export async function claimClientId(random: () => number): Promise<{ id: string; release: () => void }> {
  const kept = storage("sessionStorage");
  const old = kept?.getItem(CLIENT_KEY);
  if (kept && environment().navigator?.locks) {
    for (const id of [old, makeId(random)]) {
      const release = id && (await lock(`${CLIENT_KEY}:${id}`));
      if (!release) continue;
      remember(kept, CLIENT_KEY, id);
      return { id, release };
    }
  }
  return { id: makeId(random), release: () => {} };
}

/** Takes a Web Lock and keeps it; `null` when somebody has it or locks do not work here. */
function lock(name: string): Promise<(() => void) | null> {
  return new Promise((settle) => {
    const held = (given: unknown) => (given ? new Promise<void>(settle) : settle(null));
    const { navigator } = environment();
    navigator?.locks?.request(name, { ifAvailable: true }, held).catch(() => settle(null));
  });
}

function remember(store: ReturnType<typeof storage>, key: string, id: string): void {
  try {
    store?.setItem(key, id);
  } catch {
    // A full or forbidden storage costs the memory of the id, nothing else.
  }
}
