import fc from "fast-check";
import { expect, test } from "vitest";
import { BACKOFF, backoffMs } from "../client/backoff.ts";
import { staysAway } from "../client/connection.ts";
import { CLOSES } from "../shared/protocol/codes.ts";

test("a wait lies anywhere below the bound of its attempt, and never above the largest", () => {
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(2_000), unit, (attempt, random) => {
      const wait = backoffMs(BACKOFF, attempt, () => random);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThan(Math.min(BACKOFF.maxMs, BACKOFF.minMs * 2 ** attempt));
    }),
  );
});

test("bounds double with each attempt until the largest", () => {
  const bounds = [0, 1, 2, 3, 4, 5, 6, 50].map((attempt) =>
    backoffMs({ minMs: 100, maxMs: 2_000 }, attempt, () => 1),
  );
  expect(bounds).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
});

test("the client stays away for exactly the codes whose table line says so", () => {
  for (const [code, { again }] of Object.entries(CLOSES))
    expect(staysAway(Number(code)), code).toBe(again === "no");
  for (const code of [1000, 1001, 1006, 1011, 3000, 4000, 4005, 4399, 4500])
    expect(staysAway(code), String(code)).toBe(false);
  // A newer server may have reasons of its own to send a client away.
  expect(staysAway(4499)).toBe(true);
});
