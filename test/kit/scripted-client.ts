import { type Client, type ClientOptions, createClient } from "../../client/index.ts";
import { FakeClock, settled } from "./fake-clock.ts";
import { ScriptedServer } from "./scripted-server.ts";

/** Numbers that look random and are the same in every run. */
export function seeded(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A client and a scripted server on one clock. */
export type Scene = {
  client: Client;
  server: ScriptedServer;
  clock: FakeClock;
  /** Lets promises run and delivers frames until nothing moves any more. Time stands still. */
  settle(): Promise<void>;
  /** Lets time pass, then {@link settle}. */
  pass(ms: number): Promise<void>;
};

/** Makes a {@link Scene}; nothing is dialled yet. */
export function scene(options: ClientOptions = {}, server = new ScriptedServer()): Scene {
  const clock = new FakeClock();
  const client = createClient({
    url: "http://server.test",
    user: { id: "ann", name: "Ann" },
    WebSocket: server.net.WebSocket,
    clock,
    random: seeded(),
    ...options,
  });
  const settle = async () => {
    for (let quiet = 0; quiet < 2; ) {
      await settled();
      const before = server.net.pairs.reduce((sum, { up, down }) => sum + up.length + down.length, 0);
      const waiting = server.net.pairs.some((pair) => pair.client.readyState === 0);
      server.flush();
      quiet = before > 0 || waiting ? 0 : quiet + 1;
    }
  };
  const pass = async (ms: number) => {
    const end = clock.now() + ms;
    // From timer to timer, so that what one of them sends is answered before the next is due.
    for (let next = clock.next; next !== null && clock.now() + next <= end; next = clock.next) {
      clock.advance(next);
      await settle();
    }
    clock.advance(end - clock.now());
    await settle();
  };
  return { client, server, clock, settle, pass };
}
