import fc from "fast-check";
import type { AGUIEvent, Json, JsonPatch, Metadata } from "../../shared/protocol/index.ts";
import { type Choice, OPS } from "./stream-pen.ts";
import { StreamWriter } from "./stream-writer.ts";

const KEYS = ["a", "b", "x/y", "m~n"];

/**
 * JSON that AG-UI clients and strict RFC 6902 patch alike: integers, no key that is an array index, and no
 * text to index into (`fast-json-patch` reads `/0` of a string).
 */
export const patchable: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    fc.constantFrom<Json>(null, 0, "", true, 7),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("json"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).json;

const TOKENS = ["a", "b", "x~1y", "m~0n", "0", "1", "2", "-"];
const pointer = fc
  .array(fc.constantFrom(...TOKENS), { maxLength: 3 })
  .map((tokens) => tokens.map((token) => `/${token}`).join(""));

/** Whether a path leads into the value at another one, or into one beside it. */
function isInside(path: string, from: string): boolean {
  const beside = from.slice(0, Math.max(0, from.lastIndexOf("/")));
  const isDeeper = path.startsWith(`${beside}/`) && path.slice(beside.length + 1).includes("/");
  return isDeeper || `${path}/`.startsWith(`${from}/`);
}

/**
 * Patches that apply to a {@link patchable} value now and then, all of it or nothing in AG-UI clients too. So
 * none has what `fast-json-patch` lets pass: a value moved into itself, a missing one moved or copied to the
 * root, one moved or copied behind an array's end, and members of a number or text, which it takes for done;
 * the last shows only beside an operation on the root, which therefore stands alone. Nor does any move an
 * element into one of its neighbours, whose index it takes before the removal.
 */
export const patches: fc.Arbitrary<JsonPatch> = fc
  .array(
    fc.oneof(
      fc.record({ op: fc.constantFrom("add", "replace", "test"), path: pointer, value: patchable }),
      fc.record({ op: fc.constant("remove"), path: pointer }),
      fc
        .record({ op: fc.constantFrom("move", "copy"), from: pointer, path: pointer })
        .filter(({ path }) => path !== "" && !/\/[12]$/.test(path))
        .filter(({ op, from, path }) => op === "copy" || !isInside(path, from)),
    ) as fc.Arbitrary<JsonPatch[number]>,
    { maxLength: 3 },
  )
  .map((patch) => {
    const whole = patch.find(({ path }) => path === "");
    return whole ? [whole] : patch;
  });

const metadata: fc.Arbitrary<Metadata | undefined> = fc.option(
  fc.dictionary(fc.constantFrom("k", "l", "ag-ui", "cothread"), patchable, {
    maxKeys: 2,
    noNullPrototype: true,
  }),
  { nil: undefined, freq: 3 },
);

const choice: fc.Arbitrary<Choice> = fc.record({
  op: fc.constantFrom(...OPS),
  which: fc.nat(11),
  other: fc.nat(11),
  tag: fc.constantFrom(undefined, undefined, undefined, "s1", "s2", "s3"),
  text: fc.string({ maxLength: 3 }),
  json: patchable,
  patch: patches,
  metadata,
});

/**
 * Legal AG-UI streams of several runs, as they come off the wire (chunks not expanded): everything the
 * protocol has, in any order it allows, ids used again where it allows that. Left out is what makes an AG-UI
 * client hold two messages of one id, which no log of ours does.
 * @param size how many steps at most; a step is one event or a few
 * @param prefix what all ids begin with
 */
export function streams(size: number, prefix = ""): fc.Arbitrary<AGUIEvent[]> {
  return fc.array(choice, { minLength: 1, maxLength: size, size: "max" }).map((choices) => {
    const writer = new StreamWriter(prefix);
    for (const next of choices) writer.take(next);
    return writer.end();
  });
}
