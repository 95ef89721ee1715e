import type WebSocket from "ws";
import { many } from "./many.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { joinThread, openClient, openSocket } from "./wire-client.ts";

/** What a subscriber speaks: our protocol, entries in bare frames, or one event a frame. */
export type Dialect = "cothread" | "entries" | "event" | "socket.io";

/** Where to subscribe, how often and in which dialect. */
export type Subscribe = { url: string; sockets: number; dialect: Dialect; thread: string; name: string };
/** How far to follow: `count` entries behind `from`, told every `step` entries that all sockets have. */
export type Follow = { from: number; count: number; step: number };
/** When the last socket had its last entry, and size and number of entries of each frame of one socket. */
export type Followed = { endMs: number; frames: [bytes: number, entries: number][] };

type Reader = { seq: number };
type Following = {
  /** How many sockets have reached each step. */
  reached: number[];
  frames: [number, number][];
  done(endMs: number): void;
  failed(error: Error): void;
};

/**
 * Many plain sockets in one process that count entries. Every one checks that no entry is missing; one of
 * them reads every entry as well.
 */
export const subscribers: PartRole = (tell) => {
  const readers: Reader[] = [];
  let following: (Follow & Following) | null = null;
  let problem: string | null = null;

  function fail(sentence: string): void {
    problem ??= sentence;
    following?.failed(new Error(problem));
  }

  function advance(reader: Reader, seq: number): void {
    const before = reader.seq;
    reader.seq = seq;
    if (!following) return;
    const { from, count, step, reached } = following;
    const last = Math.ceil(count / step);
    const stepOf = (at: number) => (at >= from + count ? last : Math.max(0, Math.floor((at - from) / step)));
    for (let i = stepOf(before) + 1; i <= stepOf(seq); i += 1) {
      reached[i] = (reached[i] ?? 0) + 1;
      if (reached[i] !== readers.length) continue;
      if (i === last) following.done(monotonicMs());
      else tell("progress", i * step);
    }
  }

  function takeEntries(reader: Reader, data: Buffer, whole: boolean): void {
    const head = data.toString("latin1", 0, 120);
    const found = /^\{"type":"entries".*?"after":(\d+),"seq":(\d+)/.exec(head);
    if (!found) {
      if (head.startsWith('{"type":"snapshot"') && following)
        fail("a reader was sent a snapshot instead of entries");
      return;
    }
    const after = Number(found[1]);
    const seq = Number(found[2]);
    if (after !== reader.seq) fail(`a reader at ${reader.seq} was sent what is behind ${after}`);
    if (whole) {
      following?.frames.push([data.length, seq - after]);
      const { items } = JSON.parse(data.toString()) as { items: { seq: number }[] };
      if (items.length !== seq - after || items.at(-1)?.seq !== seq)
        fail(`a frame up to ${seq} lacks entries`);
    }
    advance(reader, seq);
  }

  function listen(socket: WebSocket, dialect: Dialect, first: boolean): void {
    const reader = { seq: 0 };
    readers.push(reader);
    socket.on("message", (data: Buffer) => {
      if (dialect === "cothread") return takeEntries(reader, data, first);
      if (dialect === "entries") return takeEntries(reader, data, false);
      if (dialect === "event") return advance(reader, reader.seq + 1);
      // Engine.IO: "2" is a ping, "42" an event.
      if (data[0] === 0x32) socket.send("3");
      else if (data[0] === 0x34 && data[1] === 0x32) advance(reader, reader.seq + 1);
    });
    socket.on("close", (code) => fail(`the server closed a socket (${code})`));
  }

  return {
    async open({ url, sockets, dialect, thread, name }: Subscribe): Promise<void> {
      await many(sockets, 50, async (i) => {
        if (dialect === "cothread") {
          const socket = await openClient(url, `${name}-${i}`);
          listen(socket, dialect, readers.length === 0);
          await joinThread(socket, thread);
        } else if (dialect === "socket.io") {
          const socket = await openSocket(`${url}/socket.io/?EIO=4&transport=websocket`);
          const ready = new Promise<void>((resolve) =>
            socket.on("message", (data: Buffer) => data.toString("latin1", 0, 2) === "40" && resolve()),
          );
          socket.send("40");
          await ready;
          listen(socket, dialect, false);
        } else listen(await openSocket(url), dialect, false);
      });
    },

    /** How far the sockets are. */
    standing(): { least: number; most: number } {
      const seqs = readers.map((reader) => reader.seq);
      return { least: Math.min(...seqs), most: Math.max(...seqs) };
    },

    async follow(follow: Follow): Promise<Followed> {
      const frames: [number, number][] = [];
      if (problem) throw new Error(problem);
      const endMs = await new Promise<number>((done, failed) => {
        following = { ...follow, reached: [], frames, done, failed };
      });
      following = null;
      return { endMs, frames };
    },
  };
};
