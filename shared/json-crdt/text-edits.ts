/**
 * An edit of a text: at this offset so many units are deleted, and this is put there ([H8]). Offsets count UTF-16
 * units; edits in a list apply one after the other, each to the result of the one before.
 */
export type TextEdit = [at: number, del: number, ins: string];

/** Edits that a text cannot take. */
export class TextEditError extends Error {
  override name = "TextEditError";
}

/** A whole text as parts: kept, deleted, inserted; what is left behind the last part is kept. */
type Part = { keep: number } | { del: number } | { ins: string };

/** What Yjs calls a delta. */
export type TextDelta = { retain?: number; delete?: number; insert?: unknown }[];

/**
 * @returns the text after the edits
 * @throws TextEditError when one is out of range, or would cut a surrogate pair
 */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  let now = text;
  for (const [at, del, ins] of edits) {
    if (!Number.isInteger(at) || !Number.isInteger(del) || at < 0 || del < 0 || at + del > now.length)
      throw new TextEditError(`The text has ${now.length} units; there is nothing at ${at} to ${at + del}.`);
    if (isInPair(now, at) || isInPair(now, at + del))
      throw new TextEditError("An edit would cut a character in half.");
    if (/\p{Surrogate}/u.test(ins)) throw new TextEditError("An edit inserts half a character.");
    now = now.slice(0, at) + ins + now.slice(at + del);
  }
  return now;
}

/** Whether an offset lies between the two halves of a character. */
export function isInPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}

/** The edits that take `edits` back. @param text what they apply to */
export function invertTextEdits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  let now = text;
  const back: TextEdit[] = [];
  for (const edit of edits) {
    const [at, del, ins] = edit;
    back.unshift([at, ins.length, now.slice(at, at + del)]);
    now = applyTextEdits(now, [edit]);
  }
  return back;
}

/**
 * The same edits for a text that has been edited by others in between: what both insert at one place stands behind
 * theirs, what both delete is deleted once.
 * @param edits made for the text that `over` applies to as well
 */
export function moveTextEdits(edits: readonly TextEdit[], over: readonly TextEdit[]): TextEdit[] {
  return toEdits(transform(toParts(edits), toParts(over)));
}

/** Edits for a Y.Text. */
export function deltaOfEdits(edits: readonly TextEdit[]): TextDelta {
  return toParts(edits).map((part) =>
    "keep" in part ? { retain: part.keep } : "del" in part ? { delete: part.del } : { insert: part.ins },
  );
}

/** What happened to a Y.Text, as edits. */
export function editsOfDelta(delta: TextDelta): TextEdit[] {
  const parts = delta.map((part): Part => {
    if (part.retain !== undefined) return { keep: part.retain };
    if (part.delete !== undefined) return { del: part.delete };
    return { ins: String(part.insert) };
  });
  return toEdits(parts);
}

function toParts(edits: readonly TextEdit[]): Part[] {
  return edits.reduce<Part[]>((before, [at, del, ins]) => {
    const next: Part[] = [];
    if (at > 0) next.push({ keep: at });
    if (del > 0) next.push({ del });
    if (ins !== "") next.push({ ins });
    return before.length === 0 ? next : compose(before, next);
  }, []);
}

function toEdits(parts: readonly Part[]): TextEdit[] {
  const edits: TextEdit[] = [];
  let at = 0;
  let open: TextEdit | null = null;
  for (const part of parts) {
    if ("keep" in part) {
      if (part.keep > 0 && open) {
        at += open[2].length;
        open = null;
      }
      at += part.keep;
      continue;
    }
    if (!open) {
      open = [at, 0, ""];
      edits.push(open);
    }
    if ("del" in part) open[1] += part.del;
    else open[2] += part.ins;
  }
  return edits.filter(([, del, ins]) => del > 0 || ins !== "");
}

/** Takes parts piece by piece; behind the last one everything is kept. */
class Reader {
  private readonly parts: readonly Part[];
  private i = 0;
  private used = 0;

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  get done(): boolean {
    return this.i >= this.parts.length;
  }

  get kind(): "keep" | "del" | "ins" {
    const part = this.parts[this.i];
    return !part || "keep" in part ? "keep" : "del" in part ? "del" : "ins";
  }

  get left(): number {
    const part = this.parts[this.i];
    return part ? sizeOf(part) - this.used : Number.POSITIVE_INFINITY;
  }

  /** @returns the piece; `n` units at most */
  take(n: number): Part {
    const part = this.parts[this.i];
    if (!part) return { keep: n };
    const from = this.used;
    const size = Math.min(n, sizeOf(part) - from);
    this.used += size;
    if (this.used === sizeOf(part)) {
      this.i += 1;
      this.used = 0;
    }
    if ("keep" in part) return { keep: size };
    return "del" in part ? { del: size } : { ins: part.ins.slice(from, from + size) };
  }
}

function sizeOf(part: Part): number {
  return "keep" in part ? part.keep : "del" in part ? part.del : part.ins.length;
}

function compose(first: readonly Part[], second: readonly Part[]): Part[] {
  const [a, b] = [new Reader(first), new Reader(second)];
  const all: Part[] = [];
  while (!a.done || !b.done) {
    if (b.kind === "ins") all.push(b.take(Number.POSITIVE_INFINITY));
    else if (a.kind === "del") all.push(a.take(Number.POSITIVE_INFINITY));
    else {
      const n = Math.min(a.left, b.left);
      if (n === Number.POSITIVE_INFINITY) break;
      const [from, to] = [a.take(n), b.take(n)];
      if ("del" in to) {
        if ("keep" in from) all.push(to);
      } else all.push(from);
    }
  }
  return all;
}

function transform(mine: readonly Part[], theirs: readonly Part[]): Part[] {
  const [a, b] = [new Reader(mine), new Reader(theirs)];
  const all: Part[] = [];
  while (!a.done) {
    if (b.kind === "ins") all.push({ keep: sizeOf(b.take(Number.POSITIVE_INFINITY)) });
    else if (a.kind === "ins") all.push(a.take(Number.POSITIVE_INFINITY));
    else {
      const n = Math.min(a.left, b.left);
      const [from, over] = [a.take(n), b.take(n)];
      if ("keep" in over) all.push(from);
    }
  }
  return all;
}
