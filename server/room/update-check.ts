import type * as Y from "yjs";
import { STATE_LIMITS } from "../../shared/json-crdt/check.ts";
import { AGUI, DRAFT } from "../../shared/json-crdt/y-json.ts";
import { StepBudget } from "./update-budget.ts";
import { rehearseDeletes } from "./update-deletes.ts";
import { countFormatting } from "./update-formats.ts";
import { Overlay, type Place } from "./update-overlay.ts";
import { type RefusalKind, UpdateRefusal } from "./update-refusal.ts";
import { Rehearsal } from "./update-rehearsal.ts";
import { REF, type ScannedUpdate, type Struct, scanUpdate, TYPE, type UpdateLimits } from "./update-scan.ts";
import { countTexts } from "./update-texts.ts";
import { faultOfKey } from "./update-values.ts";

/** Ids below are of the server: of replicas and of its own edits. */
const FIRST_FREE_ID = 1_024;

/** What an update may be and bring in at most. */
export type UpdateCheckOptions = Partial<UpdateLimits> & {
  /** Bytes of content it may bring in under the state; default 4 MiB. */
  maxBytes?: number;
  /** Characters it may bring into the draft, in UTF-16 units; default 4 Mi. */
  maxDraft?: number;
  /** Root types the document may have with it; default 100. */
  roots?: number;
  /** Containers and scalars it may bring in under the state; default 100,000. */
  maxValues?: number;
  /** Levels of containers there, with those the document has; default 100. */
  depth?: number;
  /**
   * What Yjs may spend beyond reading the update, in comparisons with concurrent neighbours of at most half a
   * microsecond; default 30,000.
   */
  steps?: number;
};

/** Whether an update may be applied; else why not, and a sentence that says what to do. */
export type UpdateVerdict =
  | {
      ok: true;
      /** Client ids of the structs that are new to the document. */
      ids: number[];
      /** Whether it deletes anything that was not deleted. */
      deletes: boolean;
      /** Whether it changes nothing. */
      empty: boolean;
    }
  | { ok: false; kind: RefusalKind; reason: string };

const DEFAULTS: Required<UpdateCheckOptions> = {
  bytes: 4_194_304,
  structs: 100_000,
  clients: 1_000,
  deletes: 100_000,
  values: STATE_LIMITS.values,
  maxBytes: 4_194_304,
  maxDraft: 4_194_304,
  roots: 100,
  maxValues: STATE_LIMITS.values,
  depth: STATE_LIMITS.depth,
  steps: 30_000,
};

/**
 * Checks what an untrusted peer sent before it is applied to a thread's document ([H13]): then `Y.applyUpdate`
 * neither throws nor waits for more nor blocks, and the state stays finite JSON. The document is only read.
 *
 * Root types of applications are opaque: there only decoding, size, and what Yjs would spend count.
 *
 * @param doc without anything pending
 * @param update in encoding v1
 */
export function checkUpdate(doc: Y.Doc, update: Uint8Array, options: UpdateCheckOptions = {}): UpdateVerdict {
  const limits = { ...DEFAULTS, ...options };
  try {
    const scanned = scanUpdate(update, limits);
    const budget = new StepBudget(limits.steps);
    const overlay = new Overlay(doc, budget);
    for (const [client, structs] of scanned.clients) {
      const last = structs.findLast(({ ref }) => ref !== REF.skip);
      if (client < FIRST_FREE_ID && last && last.clock + last.length > overlay.known(client))
        throw new UpdateRefusal(
          "reserved_id",
          `The update has changes of client id ${client}, but ids below ${FIRST_FREE_ID} are the server's; take another.`,
        );
    }
    judgeRoots(doc, scanned, limits.roots);
    const rehearsal = new Rehearsal(overlay, budget, judgeOf(limits));
    rehearsal.run(scanned);
    const deletes = rehearseDeletes(scanned.deletes, overlay, rehearsal, budget);
    rehearsal.countMerges();
    countFormatting(overlay, rehearsal.gone, budget);
    countTexts(overlay, budget);
    const ids = [...overlay.added.keys()];
    return { ok: true, ids, deletes, empty: ids.length === 0 && !deletes };
  } catch (error) {
    if (error instanceof UpdateRefusal) return { ok: false, kind: error.kind, reason: error.message };
    // What this check itself stumbles over is not let in either: thrown here, it would take the whole turn with it.
    return { ok: false, kind: "malformed", reason: "The update could not be read. Load the document again." };
  }
}

/** Yjs makes a root for each name it reads, and looks through all of them for each struct that names one. */
function judgeRoots(doc: Y.Doc, { clients }: ScannedUpdate, most: number): void {
  const made = new Set<string>();
  for (const structs of clients.values())
    for (const { parent } of structs)
      if (typeof parent === "string" && !doc.share.has(parent)) {
        made.add(parent);
        if (doc.share.size + made.size > most)
          throw tooBig(`A document may have ${most} root types; put more into those it has.`);
      }
}

/** Judges what is to stand under the state or the draft. */
function judgeOf(limits: Required<UpdateCheckOptions>) {
  let bytes = 0;
  let values = 0;
  let draft = 0;
  return (struct: Struct, place: Place, sub: string | null): void => {
    const { root } = place;
    if (root === null) return;
    if (root === DRAFT) draft += struct.ref === REF.string ? struct.length : 0;
    else bytes += struct.bytes;
    if (draft > limits.maxDraft)
      throw tooBig("The draft is too long with this. Send what stands in it, or shorten it, and try again.");
    if (bytes > limits.maxBytes)
      throw tooBig(`The update brings more than ${limits.maxBytes} bytes into the state; send less.`);
    values += struct.values?.values ?? (struct.ref === REF.type ? 1 : 0);
    if (values > limits.maxValues)
      throw tooBig(`The update brings more than ${limits.maxValues} values into the state; send less.`);
    judgePlace(struct, place, sub);
    if (struct.values?.fault) throw struct.values.fault;
    const isContainer = struct.ref === REF.type && struct.type !== TYPE.text;
    const depth = place.depth + (isContainer ? 1 : (struct.values?.depth ?? 0));
    if (depth > limits.depth)
      throw new UpdateRefusal("too_deep", `The update nests the state deeper than ${limits.depth} levels.`);
  };
}

/** Whether the kind of content fits the kind of type: the bridge reads nothing else there. */
function judgePlace({ ref, type }: Struct, { kind, root }: Place, sub: string | null): void {
  if ((kind === "map") !== (sub !== null))
    throw notJson(kind === "map" ? `as a list what is a map of "${root}"` : `keys into a list of "${root}"`);
  const fault = sub === null ? null : faultOfKey(sub);
  if (fault) throw fault;
  if (ref === REF.deleted) return;
  if (kind === "text") {
    if (ref !== REF.string && ref !== REF.format) throw notJson(`what is no text into a text of "${root}"`);
    return;
  }
  if (ref === REF.any || ref === REF.json) return;
  if (ref !== REF.type || type > TYPE.text || root === AGUI || kind === "other")
    throw notJson(`into "${root}" what is no map, list, text or plain value`);
}

function notJson(what: string): UpdateRefusal {
  return new UpdateRefusal("not_json", `The update puts ${what}, where only JSON may stand.`);
}

function tooBig(reason: string): UpdateRefusal {
  return new UpdateRefusal("too_big", reason);
}
