import type { Arrived } from "./join-client.ts";
import type { Written } from "./join-server.ts";
import { besidePeer, forInformation, type Line } from "./line.ts";
import { entriesOf } from "./long-thread.ts";
import { withParts } from "./part-process.ts";
import type { Bench } from "./runner.ts";
import type { Pair } from "./statistics.ts";
import { withTempFolder } from "./temp-folder.ts";

const MESSAGE_BYTES = 2_000;
/** What a stock client replays in seconds; its cost per event grows with the thread. */
const STOCK_MESSAGES = 200;
/** Messages of a join as the browser SDK does it. */
const SDK_HISTORY = 200;

/**
 * Joining a thread of 10,000 messages in 200,000 entries: from `join` to the folded snapshot, beside a client
 * that receives and folds every entry. The replay is sent from memory, ready-made; both clients use the
 * fast fold of the SDK. Rates, so that more is better and the ratio says how many times faster.
 */
export const join: Bench = async (run) => {
  const messages = run.quick ? 1_000 : 10_000;
  const stockMessages = run.quick ? 40 : STOCK_MESSAGES;
  const entries = entriesOf(messages);
  const speed: Pair[] = [];
  const bytes: Pair[] = [];
  const stock: Pair[] = [];
  const cold: number[] = [];
  const newest: number[] = [];
  await withTempFolder(async (folder) => {
    for (let i = 1; i <= run.runs; i += 1) {
      await withParts(async (start) => {
        const file = `${folder}/${i}.db`;
        const server = await start("join-server", run.profile);
        const client = await start("join-client", run.profile);
        run.say(`run ${i} of ${run.runs}: writing ${entries} entries`);
        const long = { file, thread: "long", messages, messageBytes: MESSAGE_BYTES };
        const written = await server.call<Written>("write", long);
        await server.call("write", { ...long, thread: "short", messages: stockMessages });
        const { url, replayUrl } = await server.call<{ url: string; replayUrl: string }>("serve", { file });
        const call = async (name: string, argument: object, expected = messages) => {
          const arrived = await client.call<Arrived>(name, argument);
          if (arrived.messages !== expected || arrived.characters !== expected * MESSAGE_BYTES)
            throw new Error(`${name} came to ${arrived.messages} messages instead of ${expected}`);
          return arrived;
        };
        const join = { url, thread: "long" };
        cold.push((await call("join", join)).ms);
        const replay = { url: replayUrl, thread: "long", entries };
        // Once for the compilers, then the one that counts.
        await call("replay", replay);
        await call("join", join);
        const replayed = await call("replay", replay);
        const joined = await call("join", join);
        newest.push(
          (await call("join", { ...join, history: SDK_HISTORY }, Math.min(messages, SDK_HISTORY))).ms,
        );
        run.say(`  join ${Math.round(joined.ms)} ms, replay ${Math.round(replayed.ms)} ms`);
        speed.push({ ours: 1000 / joined.ms, theirs: 1000 / replayed.ms });
        bytes.push({ ours: joined.bytes, theirs: written.messagesSnapshotBytes });
        const short = { url, thread: "short" };
        await call("join", short, stockMessages);
        const shortJoin = await call("join", short, stockMessages);
        const shortStock = await call(
          "stock",
          { messages: stockMessages, messageBytes: MESSAGE_BYTES },
          stockMessages,
        );
        run.say(
          `  ${stockMessages} messages: join ${shortJoin.ms.toFixed(1)} ms, stock client ${Math.round(shortStock.ms)} ms`,
        );
        stock.push({ ours: 1000 / shortJoin.ms, theirs: 1000 / shortStock.ms });
      });
    }
  });
  const many = (n: number) => n.toLocaleString("en-US");
  const size = `${many(messages)} messages of 2 KB, ${many(entries)} entries`;
  const named = { bench: "join" };
  const lines: Line[] = [
    besidePeer({
      ...named,
      case: `${size}: full history, thread in memory`,
      unit: "joins/s",
      peer: "replay of all entries, sent ready-made, same fold",
      pairs: speed,
      better: "higher",
      bound: { atLeast: 10 },
    }),
    besidePeer({
      ...named,
      case: `${size}: snapshot frame`,
      unit: "bytes",
      peer: "MESSAGES_SNAPSHOT of the same messages",
      pairs: bytes,
      better: "lower",
      bound: { atMost: 1.1 },
    }),
    besidePeer({
      ...named,
      case: `${many(stockMessages)} messages, ${many(entriesOf(stockMessages))} entries`,
      unit: "joins/s",
      peer: "stock @ag-ui/client replaying the events from memory",
      pairs: stock,
      better: "higher",
    }),
    forInformation({
      ...named,
      case: `${size}: full history, first join of a new server`,
      unit: "ms",
      values: cold,
    }),
    forInformation({ ...named, case: `${size}: newest ${SDK_HISTORY} messages`, unit: "ms", values: newest }),
  ];
  return lines;
};
