import { UpdateBytes } from "./update-bytes.ts";
import { malformed, UpdateRefusal } from "./update-refusal.ts";
import { ValueBudget, ValueFacts } from "./update-values.ts";

/** What one update may have at most. */
export type UpdateLimits = {
  /** Bytes of the update; default 4 MiB. */
  bytes: number;
  /** Structs; default 100,000. */
  structs: number;
  /** Different clients of structs; as many in the delete set; default 1,000. */
  clients: number;
  /** Ranges of the delete set; default 100,000. */
  deletes: number;
  /** Plain values, wherever they lie: one in another counts too, legacy JSON four times; default 100,000. */
  values: number;
};

/** Names a unit of content, as Yjs does. */
export type Id = { client: number; clock: number };

/** The numbers by which Yjs tells kinds of content. */
export const REF = {
  gc: 0,
  deleted: 1,
  json: 2,
  binary: 3,
  string: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  doc: 9,
  skip: 10,
} as const;

/** The numbers by which Yjs tells kinds of types. */
export const TYPE = { array: 0, map: 1, text: 2, xmlElement: 3, xmlHook: 5, xmlText: 6 } as const;

/** One struct of an update as its bytes say it. */
export type Struct = {
  client: number;
  clock: number;
  length: number;
  /** One of {@link REF}. */
  ref: number;
  origin: Id | null;
  rightOrigin: Id | null;
  /** A root type's name or a type's item; `null` when it is to be that of a neighbour. */
  parent: string | Id | null;
  sub: string | null;
  /** One of {@link TYPE}; -1 for other content. */
  type: number;
  /** The characters of a string; the key of a format marker. */
  text: string | null;
  values: ValueFacts | null;
  /** Bytes its content takes. */
  bytes: number;
};

/** A run of units to be deleted. */
export type DeleteRange = { client: number; clock: number; length: number };

/** An update, decoded but not yet looked at. */
export type ScannedUpdate = { clients: Map<number, Struct[]>; deletes: DeleteRange[] };

/**
 * Decodes an update in encoding v1, once and strictly: Yjs' own reader allocates by numbers from the wire, and
 * stops in mid-transaction at what it cannot read.
 * @throws UpdateRefusal malformed, too_big, too_deep, or reserved_id for an id that is no safe integer
 */
export function scanUpdate(update: Uint8Array, limits: UpdateLimits): ScannedUpdate {
  if (update.length > limits.bytes)
    throw new UpdateRefusal("too_big", `The update has more than ${limits.bytes} bytes; send it in parts.`);
  try {
    const from = new UpdateBytes(update);
    const clients = readStructs(from, limits);
    const deletes = readDeletes(from, limits);
    if (from.left > 0) throw malformed("something follows behind its end");
    return { clients, deletes };
  } catch (error) {
    if (error instanceof UpdateRefusal) throw error;
    // Of lib0 (the end, a number) and of the platform (UTF-8, JSON): their words quote the content.
    throw malformed("its bytes end too early, or a text in it is broken");
  }
}

function readStructs(from: UpdateBytes, limits: UpdateLimits): Map<number, Struct[]> {
  const clients = new Map<number, Struct[]>();
  const count = from.count(3);
  if (count > limits.clients) throw tooMany(limits.clients, "clients");
  const values = new ValueBudget(limits.values);
  let total = 0;
  for (let i = 0; i < count; i += 1) {
    const length = from.count(2);
    total += length;
    if (total > limits.structs) throw tooMany(limits.structs, "changes");
    const client = from.uint();
    if (clients.has(client)) throw malformed("a client in it comes twice");
    let clock = from.clock();
    const structs: Struct[] = [];
    for (let n = 0; n < length; n += 1) {
      const struct = readStruct(from, client, clock, values);
      clock += struct.length;
      structs.push(struct);
    }
    clients.set(client, structs);
  }
  return clients;
}

function readStruct(from: UpdateBytes, client: number, clock: number, values: ValueBudget): Struct {
  const info = from.byte();
  const struct: Struct = {
    client,
    clock,
    length: 1,
    ref: info & 31,
    origin: null,
    rightOrigin: null,
    parent: null,
    sub: null,
    type: -1,
    text: null,
    values: null,
    bytes: 0,
  };
  if (struct.ref === REF.gc || struct.ref === REF.skip) {
    struct.length = from.length(clock);
    return struct;
  }
  if (info & 128) struct.origin = readId(from, struct);
  if (info & 64) struct.rightOrigin = readId(from, struct);
  if ((info & 192) === 0) {
    struct.parent = from.uint() === 1 ? from.text() : readId(from, struct);
    if (info & 32) struct.sub = from.text();
  }
  const { left } = from;
  readContent(from, struct, values);
  if (struct.length === 0) throw malformed("something in it has no length");
  if (clock + struct.length >= 2 ** 31) throw malformed("a clock in it is out of range");
  struct.bytes = left - from.left;
  return struct;
}

/** Reads what a struct depends on: of its own client only what was before, or Yjs looks for it in vain. */
function readId(from: UpdateBytes, { client, clock }: Struct): Id {
  const id = { client: from.uint(), clock: from.clock() };
  if (id.client === client && id.clock >= clock)
    throw malformed("something in it depends on itself or on what came later");
  return id;
}

function readContent(from: UpdateBytes, struct: Struct, values: ValueBudget): void {
  switch (struct.ref) {
    case REF.deleted:
      struct.length = from.length(struct.clock);
      return;
    case REF.json:
      struct.length = from.count(1);
      struct.values = new ValueFacts(values);
      for (let n = struct.length; n > 0; n -= 1) struct.values.lookAtLegacy(from.text());
      return;
    case REF.any:
      struct.length = from.count(1);
      struct.values = new ValueFacts(values);
      for (let n = struct.length; n > 0; n -= 1) struct.values.readAny(from);
      return;
    case REF.binary:
      return from.skip(from.uint());
    case REF.string:
      struct.text = from.text();
      struct.length = struct.text.length;
      return;
    case REF.format:
      struct.text = from.text();
      return new ValueFacts(values).lookAtJson(from.text());
    case REF.embed:
      return new ValueFacts(values).lookAtJson(from.text());
    case REF.type:
      struct.type = from.uint();
      if (struct.type > TYPE.xmlText) throw malformed("it holds a type of an unknown kind");
      if (struct.type === TYPE.xmlElement || struct.type === TYPE.xmlHook) from.text();
      return;
    case REF.doc:
      from.text();
      return readDocOptions(from, values);
    default:
      throw malformed("it holds content of an unknown kind");
  }
}

/** Yjs reads properties of what stands here, which null and undefined do not have. */
function readDocOptions(from: UpdateBytes, values: ValueBudget): void {
  const facts = new ValueFacts(values);
  facts.readAny(from);
  if (facts.depth === 0) throw malformed("a document in it has no options");
}

function readDeletes(from: UpdateBytes, limits: UpdateLimits): DeleteRange[] {
  const deletes: DeleteRange[] = [];
  const seen = new Set<number>();
  const count = from.count(2);
  if (count > limits.clients) throw tooMany(limits.clients, "clients");
  for (let i = 0; i < count; i += 1) {
    const client = from.uint();
    if (seen.has(client)) throw malformed("a client in its delete set comes twice");
    seen.add(client);
    const length = from.count(2);
    if (deletes.length + length > limits.deletes) throw tooMany(limits.deletes, "deletions");
    for (let n = 0; n < length; n += 1) {
      const clock = from.clock();
      deletes.push({ client, clock, length: from.length(clock) });
    }
  }
  return deletes;
}

function tooMany(limit: number, what: string): UpdateRefusal {
  return new UpdateRefusal("too_big", `The update has more than ${limit} ${what}; send it in parts.`);
}
