import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FineOp, finePatch } from "../shared/json-crdt/fine-patch.ts";
import { applyPatch, PatchError } from "../shared/json-crdt/patch.ts";
import { updateAt } from "../shared/json-crdt/place.ts";
import { applyTextEdits } from "../shared/json-crdt/text-edits.ts";
import { compileTextPaths, NO_TEXTS } from "../shared/json-crdt/text-paths.ts";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";
import { patchable, patches } from "./kit/streams.ts";
import { within } from "./kit/within.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** The state after one change, made alone. */
function after(state: Json, op: FineOp): Json {
  if (op.kind === "root") return op.value;
  return updateAt(state, op.path, (holder, key) => {
    const at = Number(key);
    if (op.kind === "insert") return (holder as Json[]).toSpliced(at, 0, op.value);
    if (op.kind === "remove" && Array.isArray(holder)) {
      expect(holder[at]).toEqual(op.was);
      return holder.toSpliced(at, 1);
    }
    const { [key]: was, ...rest } = holder as { [key: string]: Json };
    expect(was).toEqual(op.was);
    if (op.kind === "remove") return rest;
    const value = op.kind === "text" ? applyTextEdits(op.was, op.edits) : (op as { value: Json }).value;
    return Array.isArray(holder) ? holder.with(at, value) : { ...holder, [key]: value };
  });
}

test("[H3] changes of places, made one by one, come to what the patch does, and say what stood there", () => {
  const texts = compileTextPaths(["/a", "/list/*"]);
  fc.assert(
    fc.property(patchable, patches, (before, patch) => {
      const copy = structuredClone(before);
      let fine: ReturnType<typeof finePatch>;
      try {
        fine = finePatch(before, patch, texts);
      } catch (error) {
        if (!(error instanceof PatchError)) throw error;
        return;
      }
      expect(fine.ops.reduce(after, before)).toEqual(fine.after);
      expect(before).toEqual(copy);
    }),
  );
});

describe("[H3] operations side by side in one array", () => {
  const put = (at: number, ...values: Json[]): JsonPatch =>
    values.map((value, i) => ({ op: "add", path: `/l/${at + i}`, value }));
  const take = (at: number, count: number): JsonPatch =>
    Array.from({ length: count }, () => ({ op: "remove", path: `/l/${at}` }));

  test("are made as one by one, whatever comes between", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.nat(12), fc.integer({ min: 1, max: 6 })), { maxLength: 6 }),
        (parts) => {
          const patch = parts.flatMap(([puts, at, count]) =>
            puts ? put(at, ...numbers(count)) : take(at, count),
          );
          const attempt = (work: () => Json) => {
            try {
              return work();
            } catch (error) {
              return (error as PatchError).message.replace(/^operation \d+/, "");
            }
          };
          const before = { l: numbers(6) };
          let failed = 0;
          const single = attempt(() =>
            patch.reduce<Json>((state, one, i) => {
              failed = i;
              return applyPatch(state, [one]);
            }, before),
          );
          expect(attempt(() => applyPatch(before, patch))).toEqual(single);
          if (typeof single !== "string") return;
          expect(() => applyPatch(before, patch)).toThrow(expect.objectContaining({ index: failed }));
        },
      ),
    );
  });

  test("one that does not fit is named, and not the first of them", () => {
    const bad = (patch: JsonPatch) => {
      expect(() => applyPatch({ l: [1, 2] }, patch)).toThrow(/^operation 2 /);
    };
    bad(take(0, 3));
    bad(put(0, 1, 2, Number.NaN));
    bad([...put(2, 1, 2), { op: "add", path: "/l/9", value: 1 }]);
  });

  test("of an object are members", () => {
    expect(applyPatch({ l: {} }, put(3, "a", "b"))).toEqual({ l: { 3: "a", 4: "b" } });
  });
});

describe("[H13] a patch costs a look at each operation, not at the state for each", () => {
  const list = { l: numbers(45_000) };
  const keys = numbers(10_000).map((n) => ({ op: "add" as const, path: `/k${n}`, value: n }));
  const cases: Record<string, [Json, JsonPatch]> = {
    "all of a long list taken out": [list, numbers(45_000).map(() => ({ op: "remove", path: "/l/0" }))],
    "5,000 values put into it": [list, numbers(5_000).map((n) => ({ op: "add", path: `/l/${n}`, value: n }))],
    "10,000 keys": [{}, keys],
    "all of them taken out": [applyPatch({}, keys), keys.map(({ path }) => ({ op: "remove", path }))],
  };
  test.each(Object.keys(cases))("%s", (name) => {
    const [before, patch] = cases[name]!;
    const { ops } = within(50, () => finePatch(before, patch, NO_TEXTS));
    expect(ops).toHaveLength(patch.length);
  });
});
