import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { Acks } from "../../shared/protocol/acks.ts";
import { CLOSES, REJECTS, RUN_ERRORS } from "../../shared/protocol/codes.ts";
import { Entry } from "../../shared/protocol/entries.ts";
import { DownFrame } from "../../shared/protocol/frames-down.ts";
import { UpFrame } from "../../shared/protocol/frames-up.ts";
import { PROTOCOL, SUBPROTOCOL, VERSIONS } from "../../shared/protocol/version.ts";

/** JSON text that is equal for equal schemas, in whatever order they are written down. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    const items = value.map(canonical);
    // A list of strings is a set in JSON Schema: `required`, `enum`, `type`.
    if (value.every((item) => typeof item === "string")) items.sort();
    return `[${items.join(",")}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields
    .map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`)
    .sort()
    .join(",")}}`;
}

const hashOf = (value: unknown) => createHash("sha256").update(canonical(value)).digest("hex");

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });

/** Everything two sides must agree on. Sentences for people (`when`, `name`) may change freely. */
const agreed = () => ({
  up: schemaOf(UpFrame),
  down: schemaOf(DownFrame),
  entry: schemaOf(Entry),
  acks: Object.fromEntries(Object.entries(Acks).map(([request, schema]) => [request, schemaOf(schema)])),
  rejects: Object.fromEntries(Object.entries(REJECTS).map(([code, { retry }]) => [code, retry])),
  closes: Object.fromEntries(Object.entries(CLOSES).map(([code, { again }]) => [code, again])),
  runErrors: Object.keys(RUN_ERRORS),
});

test("the protocol is that of the last line of VERSIONS", () => {
  const hash = hashOf(agreed());
  const last = VERSIONS.at(-1)!;
  if (last.hash !== hash)
    expect.fail(
      [
        "The schemas of frames, entries or acks, or the codes, are not those of the last line of VERSIONS in shared/protocol/version.ts.",
        "If this was not meant, undo it. If it was: when the version of the last line is released, add a line and raise PROTOCOL",
        "unless older peers get along with the change; before that, edit the last line. The new hash is",
        `  "${hash}"`,
      ].join("\n"),
    );
});

test("VERSIONS is a history: numbers never fall, hashes never repeat, the last is PROTOCOL", () => {
  VERSIONS.forEach((line, index) => {
    expect(line.hash, `line ${index + 1}`).toMatch(/^[0-9a-f]{64}$/);
    expect(line.what, `line ${index + 1}`).not.toBe("");
    expect(line.v, `line ${index + 1}`).toBeGreaterThanOrEqual(VERSIONS[index - 1]?.v ?? 1);
  });
  expect(new Set(VERSIONS.map((line) => line.hash)).size).toBe(VERSIONS.length);
  expect(VERSIONS.at(-1)!.v).toBe(PROTOCOL);
  expect(SUBPROTOCOL).toBe(`cothread.v${PROTOCOL}`);
});

test("the hash notices a changed field and a changed code, and not the order of things", () => {
  const base = z.object({ a: z.string(), b: z.enum(["x", "y"]).optional(), c: z.number() });
  const hash = hashOf(schemaOf(base));
  expect(hashOf(schemaOf(z.object({ c: z.number(), b: z.enum(["y", "x"]).optional(), a: z.string() })))).toBe(
    hash,
  );
  for (const other of [
    base.extend({ d: z.string() }),
    base.extend({ d: z.string().optional() }),
    base.extend({ a: z.string().max(9) }),
    base.extend({ a: z.string().optional() }),
    base.extend({ b: z.enum(["x", "y", "z"]).optional() }),
    base.omit({ c: true }),
    base.loose(),
  ])
    expect(hashOf(schemaOf(other))).not.toBe(hash);
  const codes = agreed();
  expect(hashOf({ ...codes, rejects: { ...codes.rejects, busy: true } })).not.toBe(hashOf(codes));
  expect(hashOf({ ...codes, runErrors: codes.runErrors.slice(1) })).not.toBe(hashOf(codes));
});
