import { matches } from "./matches.ts";
import { parseEntry } from "./parse-entry.ts";
import {
  ACK_KEPT_MS,
  type AckRow,
  type Batch,
  type ChangeRow,
  type CommitResult,
  type EncodedEntry,
  type FoldMessage,
  type FoldTurn,
  type InputRow,
  type ReadRow,
  type Store,
  type ThreadKey,
  type ThreadRow,
} from "./store.ts";
import { StoreError } from "./store-error.ts";
import { judge } from "./verdict.ts";

type Thread = {
  key: ThreadKey;
  row: ThreadRow;
  epoch: string;
  seq: number;
  mark: string;
  createdMark: string;
  ownerEpoch: number;
  generation: number;
  unfinished: boolean;
  said: number;
  entries: EncodedEntry[];
  /** Last seq of each commit that wrote entries, in order, and its mark. */
  commits: { seq: number; mark: string }[];
  fold: { seq: number; rest: string } | null;
  messages: Map<string, FoldMessage>;
  turns: Map<string, FoldTurn>;
  inputs: Map<string, InputRow>;
  acks: Map<string, AckRow>;
  doc: Uint8Array[];
  changes: ChangeRow[];
  /** By agent. */
  agents: Map<string, string>;
  /** By user. */
  reads: Map<string, ReadRow>;
};

/** A store that lives and dies with the process: for tests and for servers that are thrown away. */
export function openMemory(): Store {
  const threads = new Map<string, Thread>();
  let open = true;

  const nameOf = (key: ThreadKey) => JSON.stringify([key.tenant, key.thread]);
  const find = (key: ThreadKey) => threads.get(nameOf(key));
  const ensureOpen = () => {
    if (!open) throw closed();
  };

  function commit(batch: Batch): CommitResult {
    if (!open) return { ok: false, code: "failed", error: closed() };
    const found = find(batch.key);
    const verdict = judge(batch, found, (seq) => found?.commits.find((c) => c.seq === seq)?.mark);
    if (typeof verdict === "object") return verdict.answer;
    const thread = found ?? newThread(batch);
    threads.set(nameOf(batch.key), thread);
    write(thread, batch);
    return { ok: true, duplicate: false };
  }

  return {
    name: "memory:",
    async commit(batches) {
      return batches.map(commit);
    },
    async read(key, after, limit) {
      ensureOpen();
      const from = Math.max(0, after);
      return (find(key)?.entries ?? []).slice(from, from + Math.max(0, limit)).map(parseEntry);
    },
    async load(key) {
      ensureOpen();
      const thread = find(key);
      if (!thread) return null;
      const { epoch, seq, mark, generation, ownerEpoch, row, fold } = thread;
      return {
        epoch,
        seq,
        mark,
        generation,
        ownerEpoch,
        createdAt: row.createdAt,
        fold: fold && { ...fold, messages: placed(thread.messages), turns: placed(thread.turns) },
        inputs: pending(thread),
        doc: thread.doc.map((update) => update.slice()),
        agents: [...thread.agents].map(([agent, json]) => ({ agent, json })),
        reads: [...thread.reads.values()].map((row) => ({ ...row })),
      };
    },
    async mark(key, seq) {
      ensureOpen();
      if (!Number.isInteger(seq) || seq < 1) return null;
      return find(key)?.commits.find((c) => c.seq >= seq)?.mark ?? null;
    },
    async ack(key, user, ackKey, now) {
      ensureOpen();
      const ack = find(key)?.acks.get(JSON.stringify([user, ackKey]));
      return ack && ack.at >= now - ACK_KEPT_MS ? { ...ack } : null;
    },
    async input(key, inputId) {
      ensureOpen();
      const input = find(key)?.inputs.get(inputId);
      return input ? { ...input } : null;
    },
    async messages(key, before, limit) {
      ensureOpen();
      const all = placed(find(key)?.messages ?? new Map<string, FoldMessage>());
      const end = Math.max(
        0,
        all.findIndex((message) => message.id === before),
      );
      return all.slice(Math.max(0, end - limit), end);
    },
    async changes(key, run) {
      ensureOpen();
      const all = find(key)?.changes ?? [];
      const first = all.findIndex((change) => change.run === run);
      return first < 0 ? [] : all.slice(first).map((change) => ({ ...change }));
    },
    async changesAfter(key, seq) {
      ensureOpen();
      const all = find(key)?.changes ?? [];
      return all.filter((change) => change.seq > seq).map((change) => ({ ...change }));
    },
    async threads({ tenant, archived, text, limit, ids }) {
      ensureOpen();
      return [...threads.values()]
        .filter(({ key }) => key.tenant === tenant && (!ids || ids.includes(key.thread)))
        .map(({ row }) => ({ ...row }))
        .filter((row) => archived === undefined || row.archived === archived)
        .filter((row) => text === undefined || matches(text, row.title, row.lastMessage))
        .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1))
        .slice(0, Math.max(0, limit));
    },
    async unread(tenant, user, ids) {
      ensureOpen();
      const counts = ids.map((id): [string, number] => {
        const { said, reads } = find({ tenant, thread: id }) ?? {};
        return [id, (said ?? 0) - (reads?.get(user)?.heard ?? Number.POSITIVE_INFINITY)];
      });
      return new Map(counts.filter(([, count]) => count > 0));
    },
    async unfinished() {
      ensureOpen();
      return [...threads.values()].filter((t) => t.unfinished).map((t) => ({ ...t.key }));
    },
    async documents() {
      ensureOpen();
      return [...threads.values()].filter((t) => t.doc.length > 0).map((t) => ({ ...t.key }));
    },
    async sweep(now) {
      ensureOpen();
      for (const { acks } of threads.values()) {
        for (const [name, ack] of acks) if (ack.at < now - ACK_KEPT_MS) acks.delete(name);
      }
    },
    async close() {
      open = false;
    },
  };
}

function newThread({ key, create, mark, ownerEpoch }: Batch): Thread {
  const { epoch, at } = create!;
  return {
    key: { tenant: key.tenant, thread: key.thread },
    row: {
      id: key.thread,
      title: "",
      archived: false,
      agent: null,
      createdAt: at,
      updatedAt: at,
      lastMessage: "",
      running: false,
      waiting: false,
    },
    epoch,
    seq: 0,
    mark,
    createdMark: mark,
    ownerEpoch,
    generation: 0,
    unfinished: false,
    said: 0,
    entries: [],
    commits: [],
    fold: null,
    messages: new Map(),
    turns: new Map(),
    inputs: new Map(),
    acks: new Map(),
    doc: [],
    changes: [],
    agents: new Map(),
    reads: new Map(),
  };
}

/** Cannot fail: what could was refused by `judge`. Rows are copied, so that the caller may change its own. */
function write(
  thread: Thread,
  { mark, ownerEpoch, entries, fold, inputs = [], acks = [], reads = [], info, state }: Batch,
): void {
  thread.ownerEpoch = ownerEpoch;
  if (entries.length > 0) {
    for (const { seq, json } of entries) thread.entries.push({ seq, json });
    thread.seq += entries.length;
    thread.mark = mark;
    thread.commits.push({ seq: thread.seq, mark });
  }
  if (fold) {
    thread.fold = { seq: fold.seq, rest: fold.rest };
    for (const id of fold.dropped) thread.messages.delete(id);
    for (const message of fold.messages) thread.messages.set(message.id, { ...message });
    for (const turn of fold.turns) thread.turns.set(turn.id, { ...turn });
  }
  for (const input of inputs) thread.inputs.set(input.inputId, { ...input });
  for (const ack of acks) thread.acks.set(JSON.stringify([ack.user, ack.key]), { ...ack });
  for (const read of reads)
    if (read.seq >= (thread.reads.get(read.user)?.seq ?? 0)) thread.reads.set(read.user, { ...read });
  if (state) {
    thread.generation = state.generation ?? thread.generation;
    if (state.whole) thread.doc = [state.whole.slice()];
    else thread.doc.push(...state.updates.map((update) => update.slice()));
    thread.changes.push(...state.changes.map((change) => ({ ...change })));
    for (const { agent, json } of state.agents) thread.agents.set(agent, json);
  }
  if (info) {
    const { unfinished, said, ...listed } = info;
    const given = Object.entries(listed).filter(([, value]) => value !== undefined);
    Object.assign(thread.row, Object.fromEntries(given));
    thread.unfinished = unfinished ?? thread.unfinished;
    thread.said = said ?? thread.said;
  }
}

function pending(thread: Thread): InputRow[] {
  const open = [...thread.inputs.values()].filter((i) => i.status === "queued" || i.status === "running");
  return open.map((input) => ({ ...input }));
}

/** Copies of the rows, so that the caller cannot change the store's. */
function placed<Row extends { id: string; place: number }>(rows: Map<string, Row>): Row[] {
  const copies = [...rows.values()].map((row) => ({ ...row }));
  return copies.sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1));
}

function closed(): StoreError {
  return new StoreError("closed", "The store is closed.");
}
