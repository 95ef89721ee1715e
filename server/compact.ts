import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { byteSize } from "../shared/byte-size.ts";
import { ConfigError, shown } from "./config.ts";
import { nearest } from "./nearest.ts";
import { type Compaction, compactThread } from "./room/compaction.ts";
import { openStore } from "./store/open.ts";
import type { Store, ThreadKey } from "./store/store.ts";
import { StoreError } from "./store/store-error.ts";

/** What `cothread compact` is asked to do. */
export type CompactRequest = {
  /** URL of the store. */
  store: string;
  /** Ids of threads, of whichever tenant; none, or `all`, for every one. */
  threads: readonly string[];
  /** What part of a document must go for it to be made anew, as a percentage: `50%`. */
  minGain: string;
  /** Only tell what it would come to. */
  dryRun: boolean;
  /** A line of JSON for each document, and one for all. */
  json: boolean;
};

/** Where it tells what it does, and by which clock. */
export type CompactOutput = {
  /** A result, as one line. */
  print(line: string): void;
  /** How far it is, as one line. */
  note(line: string): void;
  /** The time, ms. */
  now(): number;
};

/** Between two lines about how far it is, ms. */
const NOTE_MS = 2_000;
/** What became of a document, in a word of `--json`. */
const WORDS: Record<Compaction["kind"], string> = {
  anew: "compacted",
  "worth nothing": "kept",
  refused: "refused",
  none: "none",
};

/**
 * Makes documents of a store anew that are mostly what was deleted in them ([Y8]). The store is opened as a server
 * does it, so nobody is connected to it meanwhile.
 * @returns whether every document could be made anew or was not worth it
 * @throws ConfigError when the request makes no sense
 * @throws StoreOpenError when a server has the store open, or it cannot be opened
 */
export async function compact(request: CompactRequest, output: CompactOutput): Promise<boolean> {
  const minGain = fraction(request.minGain);
  ensureThere(request.store);
  const store = await openStore(request.store);
  try {
    const keys = wanted(await store.documents(), request.threads);
    return await compactAll(store, keys, minGain, request, output);
  } finally {
    await store.close();
  }
}

async function compactAll(
  store: Store,
  keys: readonly ThreadKey[],
  minGain: number,
  { dryRun, json }: CompactRequest,
  { print, note, now }: CompactOutput,
): Promise<boolean> {
  const total = { documents: keys.length, compacted: 0, refused: 0, before: 0, after: 0 };
  let told = now();
  for (const [i, key] of keys.entries()) {
    const done = await one(store, key, { minGain, dryRun });
    if (done.kind === "refused") total.refused += 1;
    if (done.kind === "anew") {
      total.compacted += 1;
      total.before += done.before;
      total.after += done.after;
    }
    if (json) print(JSON.stringify({ ...key, ...done, kind: WORDS[done.kind], dryRun }));
    else if (done.kind === "anew" || done.kind === "refused") print(line(key, done));
    if (now() - told < NOTE_MS) continue;
    told = now();
    note(`… ${i + 1} of ${keys.length} documents`);
  }
  print(json ? JSON.stringify({ kind: "total", ...total, dryRun }) : summary(total, dryRun));
  return total.refused === 0;
}

/** One document that cannot be read does not keep the others from being looked at. */
async function one(store: Store, key: ThreadKey, options: Parameters<typeof compactThread>[2]) {
  try {
    return await compactThread(store, key, options);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { kind: "refused" as const, why: error.message };
  }
}

function fraction(text: string): number {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100;
  throw new ConfigError(
    `--min-gain is not right: it must be a percentage from 0% to 100% (given: ${shown(text)}).`,
  );
}

/** To open a file that is not there would make one. */
function ensureThere(url: string): void {
  if (url === "memory:")
    throw new ConfigError(
      'The store "memory:" keeps nothing that could be compacted. Name one with --store.',
    );
  const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
  if (path === "" || existsSync(path)) return;
  throw new ConfigError(`There is no database ${resolve(path)}. Name the store of your server with --store.`);
}

function wanted(keys: ThreadKey[], threads: readonly string[]): ThreadKey[] {
  if (threads.length === 0 || threads.includes("all")) return keys;
  const known = keys.map(({ thread }) => thread);
  const missing = threads.find((thread) => !known.includes(thread));
  if (missing === undefined) return keys.filter(({ thread }) => threads.includes(thread));
  const meant = nearest(missing, known);
  const hint = meant === undefined ? "" : ` Did you mean ${shown(meant)}?`;
  throw new ConfigError(`There is no thread ${shown(missing)} with a document.${hint} Nothing was changed.`);
}

function line({ tenant, thread }: ThreadKey, done: Compaction & { kind: "anew" | "refused" }): string {
  const name = tenant === "default" ? thread : `${thread} of ${tenant}`;
  return `${name}  ${done.kind === "anew" ? sizes(done) : `left as it is: ${done.why}`}`;
}

function summary(
  total: { documents: number; compacted: number; before: number; after: number },
  dry: boolean,
) {
  const { documents, compacted } = total;
  const what = `${compacted} of ${documents} ${documents === 1 ? "document" : "documents"}`;
  return `${what} ${dry ? "would be compacted" : "compacted"}${compacted > 0 ? `  ${sizes(total)}` : ""}`;
}

function sizes({ before, after }: { before: number; after: number }): string {
  return `${byteSize(before)} → ${byteSize(after)}`;
}
