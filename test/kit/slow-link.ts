import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server that is slow downwards; see {@link slowLink}. */
export type SlowLink = {
  /** The server's address by this way. */
  url: string;
  /** Lets nothing through any more, or goes on. */
  hold(held: boolean): void;
};

/**
 * Puts a slow and steady line between a server and those who dial `url`: what the server sends comes through
 * at a pace, what clients send at once. It is gone after the test.
 * @param bytesPerSecond the pace, for each connection
 */
export async function slowLink(target: string, bytesPerSecond: number): Promise<SlowLink> {
  let held = false;
  const waiting = new Set<() => void>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(target).port), "127.0.0.1");
    const end = () => {
      near.destroy();
      far.destroy();
    };
    near.on("error", end).on("close", end);
    far.on("error", end).on("close", () => near.end());
    near.pipe(far);
    const go = () => (held ? waiting.add(go) : far.resume());
    far.on("data", (chunk) => {
      near.write(chunk);
      far.pause();
      setTimeout(go, (chunk.length / bytesPerSecond) * 1_000);
    });
  });
  await new Promise<void>((open) => server.listen(0, "127.0.0.1", open));
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(now) {
      held = now;
      if (now) return;
      for (const go of waiting) go();
      waiting.clear();
    },
  };
}
