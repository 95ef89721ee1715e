import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { PeerKind } from "./fanout-peers.ts";
import type { Went } from "./fanout-server.ts";
import { type Bound, besidePeer, type Line } from "./line.ts";
import { type PartProcess, withParts } from "./part-process.ts";
import type { Bench, BenchRun } from "./runner.ts";
import type { Pair } from "./statistics.ts";
import type { Dialect, Followed } from "./subscribers.ts";
import { withTempFolder } from "./temp-folder.ts";
import { joinThread, openClient, submit } from "./wire-client.ts";

const EVENT_BYTES = 200;
/** Events the source makes per turn of the event loop. */
const BURST = 20;
/** Events on their way to the slowest reader at most: 600 KB, below the soft bound of an outbox. */
const WINDOW = 2_000;
const THREAD = "bench";

/** Deliveries per second of wall time, and of the server's CPU time. */
type Speed = { wall: number; cpu: number };

const PEERS: { kind: PeerKind; dialect: Dialect; peer: string; bound: Bound }[] = [
  { kind: "batches", dialect: "entries", peer: "bare ws, same batches", bound: { atLeast: 0.8 } },
  { kind: "events", dialect: "event", peer: "bare ws, a frame per event", bound: { atLeast: 5 } },
  {
    kind: "socket.io",
    dialect: "socket.io",
    peer: "socket.io room, an emit per event",
    bound: { atLeast: 5 },
  },
];

/**
 * One streaming thread and many who read it: deliveries (events × readers) per second. The source is
 * saturated: it makes 20 events per turn and waits only for the readers. Readers are plain `ws` sockets in
 * one other process.
 */
export const fanout: Bench = async (run) => {
  const lines: Line[] = [];
  for (const readers of run.quick ? [20] : [100, 1_000]) {
    const pairs: Record<PeerKind, { wall: Pair[]; cpu: Pair[] }> = {
      batches: { wall: [], cpu: [] },
      events: { wall: [], cpu: [] },
      "socket.io": { wall: [], cpu: [] },
    };
    for (let i = 1; i <= run.runs; i += 1) {
      run.say(`${readers} readers, run ${i} of ${run.runs}`);
      const { speed, frames } = await measureOurs(readers, run);
      const entries = frames.reduce((sum, [, n]) => sum + n, 0) / frames.length;
      run.say(`  ${entries.toFixed(1)} entries a frame on average`);
      for (const { kind, dialect } of PEERS) {
        const theirs = await measurePeer(kind, dialect, readers, frames, run);
        pairs[kind].wall.push({ ours: speed.wall, theirs: theirs.wall });
        pairs[kind].cpu.push({ ours: speed.cpu, theirs: theirs.cpu });
        run.say(
          `  ours ${millions(speed)}, ${kind} ${millions(theirs)} million deliveries per second and per CPU second`,
        );
      }
    }
    const what = `${readers.toLocaleString("en-US")} readers, SQLite, bursts of ${BURST} events`;
    for (const { kind, peer, bound } of PEERS) {
      const named = { bench: "fanout", peer, better: "higher" as const };
      const { wall, cpu } = pairs[kind];
      lines.push(besidePeer({ ...named, case: what, unit: "deliveries/s", pairs: wall, bound }));
      lines.push(besidePeer({ ...named, case: what, unit: "deliveries/server CPU s", pairs: cpu }));
    }
  }
  return lines;
};

async function measureOurs(
  readers: number,
  { quick, profile }: BenchRun,
): Promise<{ speed: Speed; frames: Followed["frames"] }> {
  return withTempFolder((folder) =>
    withParts(async (start) => {
      const server = await start("fanout-server", profile);
      const store = `sqlite:${folder}/fanout.db`;
      const url = await server.call<string>("start", settings({ store }));
      const crowd = await start("subscribers");
      await crowd.call("open", {
        url,
        sockets: readers,
        dialect: "cothread",
        thread: THREAD,
        name: "reader",
      });
      const starter = await openClient(url, "starter");
      await joinThread(starter, THREAD);
      await submit(starter, THREAD, "start");
      starter.close();
      await once(starter, "close");
      const count = quick ? 1_000 : readers > 100 ? 5_000 : 20_000;
      await stream(server, crowd, { count: Math.ceil(count / 4), readers });
      return stream(server, crowd, { count, readers });
    }),
  );
}

async function measurePeer(
  kind: PeerKind,
  dialect: Dialect,
  readers: number,
  frames: Followed["frames"],
  { quick }: BenchRun,
): Promise<Speed> {
  return withParts(async (start) => {
    const server = await start("fanout-peers");
    const url = await server.call<string>("start", settings({ kind }));
    const crowd = await start("subscribers");
    await crowd.call("open", { url, sockets: readers, dialect, thread: THREAD, name: "reader" });
    const batched = readers > 100 ? 5_000 : 20_000;
    const count = quick ? 1_000 : kind === "batches" ? batched : batched / 8;
    await stream(server, crowd, { count: Math.ceil(count / 4), readers, frames });
    return (await stream(server, crowd, { count, readers, frames })).speed;
  });
}

function settings(more: object): object {
  return { eventBytes: EVENT_BYTES, burst: BURST, window: WINDOW, ...more };
}

/** Has the server send `count` events and waits until every reader has them. */
async function stream(
  server: PartProcess,
  crowd: PartProcess,
  { count, readers, frames = [] }: { count: number; readers: number; frames?: Followed["frames"] },
): Promise<{ speed: Speed; frames: Followed["frames"] }> {
  const from = await atRest(crowd);
  crowd.on<number>("progress", (read) => void server.call("progress", read));
  const following = crowd.call<Followed>("follow", { from, count, step: WINDOW / 8 });
  // Calls are taken in order: when this one is answered, the readers are ready.
  await crowd.call("standing");
  const went = await server.call<Went>("go", { count, frames });
  const followed = await following;
  const cpuMs = (await server.call<number>("cpuMs")) - went.cpuMs;
  const deliveries = count * readers;
  const wall = deliveries / ((followed.endMs - went.startMs) / 1000);
  return { speed: { wall, cpu: deliveries / (cpuMs / 1000) }, frames: followed.frames };
}

/** Where all readers stand once nothing moves any more. */
async function atRest(crowd: PartProcess): Promise<number> {
  let before = -1;
  for (;;) {
    const { least, most } = await crowd.call<{ least: number; most: number }>("standing");
    if (least === most && least === before) return least;
    before = least === most ? least : -1;
    await setTimeout(200);
  }
}

function millions({ wall, cpu }: Speed): string {
  return `${(wall / 1e6).toFixed(2)} / ${(cpu / 1e6).toFixed(2)}`;
}
