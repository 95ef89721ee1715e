import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LanePeer } from "./kit/lane-peer.ts";
import { RawClient } from "./kit/raw-client.ts";
import { type ServerProcess, startServer } from "./kit/server-process.ts";

const ROUNDS = Number(process.env.COTHREAD_ROUNDS) || (process.env.COTHREAD_SOAK ? 100 : 6);

/** Somebody who types as fast as they can, and notes what the server says is stored. */
class Typist {
  readonly lane: LanePeer;
  readonly name: string;
  /** What each update of this connection put in, by its number: step 2, the first one, puts in nothing. */
  private readonly typed: string[] = [""];
  private saved = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  private constructor(lane: LanePeer, name: string) {
    this.lane = lane;
    this.name = name;
    lane.raw.socket.on("message", (data, binary) => {
      if (binary) return;
      const frame = JSON.parse(String(data)) as { type: string; n?: number };
      if (frame.type === "saved") this.saved = frame.n as number;
    });
  }

  static async sit(url: string, name: string): Promise<Typist> {
    const raw = await RawClient.hello(url, name);
    const lane = new LanePeer(raw, (await raw.join("t")).joined!.channel);
    const typist = new Typist(lane, name);
    lane.open();
    await lane.until(() => lane.asked > 0);
    return typist;
  }

  /** Types into the draft and into the state until it is stopped. */
  type(round: number): void {
    let n = 0;
    this.timer = setInterval(() => {
      for (let i = 0; i < 4; i += 1) {
        n += 1;
        const mark = `[${this.name} ${round}.${n}]`;
        if (n % 4 === 0) this.lane.doc.getMap("state").set(mark, true);
        else this.lane.doc.getText("draft").insert(0, mark);
        this.typed.push(mark);
      }
    }, 2);
  }

  /** Ends typing. @returns what the server has said is stored */
  stop(): string[] {
    clearInterval(this.timer);
    return this.typed.slice(1, this.saved);
  }

  get savedCount(): number {
    return this.saved;
  }
}

test(`[Y3] kill -9 while two people type, ${ROUNDS} rounds: everything that was saved is there`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "cothread-typing-"));
  let server: ServerProcess | undefined;
  onTestFinished(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const saved = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    server = await startServer(["--store", `sqlite:${join(folder, "t.db")}`]);
    const reader = await Typist.sit(server.url, "Cy");
    const there = `${reader.lane.doc.getText("draft")} ${JSON.stringify(reader.lane.doc.getMap("state").toJSON())}`;
    for (const mark of saved) expect(there, `${mark} was saved`).toContain(mark);
    const typists = [await Typist.sit(server.url, "Ana"), await Typist.sit(server.url, "Ben")];
    for (const typist of typists) typist.type(round);
    await typists[0]!.lane.raw.find((frame) => frame.type === "saved" && frame.n > 40 + round * 7);
    await server.kill();
    for (const typist of typists) for (const mark of typist.stop()) saved.add(mark);
  }
  console.log(`typing: ${saved.size} edits were saved in ${ROUNDS} rounds, none was lost`);
  expect(saved.size).toBeGreaterThan(ROUNDS * 40);
}, 600_000);
