import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/** A wire between a browser and a server that can be cut and mended. */
export type Wire = {
  /** Where the browser goes. */
  url: string;
  /** Cuts what is open; what is dialled anew is cut at once. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
};

/** Lays a {@link Wire}. @param target http:// address of the server */
export async function layWire(target: string): Promise<Wire> {
  const { port, hostname } = new URL(target);
  const open = new Set<Socket>();
  let broken = false;
  const server = createServer((near) => {
    if (broken) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const cut = () => {
    broken = true;
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend() {
      broken = false;
    },
    close() {
      cut();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
