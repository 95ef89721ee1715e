import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_COLOURS, createPalette, PEOPLE_COLOURS, preferredPlace } from "../client/app/colours.ts";

const css = readFileSync(new URL("../client/app/style/tokens.css", import.meta.url), "utf8");
const tokensOf = (text: string) =>
  Object.fromEntries([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((found) => [found[1], found[2]]));
const [lightText = "", darkText = ""] = css.split("prefers-color-scheme: dark");
const light = tokensOf(lightText) as Record<string, string>;
const dark = { ...light, ...tokensOf(darkText) } as Record<string, string>;

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ["light", light],
  ["dark", dark],
])("text stands out on every surface: %s", (_name, tokens) => {
  for (const ink of ["ink", "ink2", "ink3", "accent", "bad", "warn"])
    for (const surface of ["bg", "panel"])
      expect(contrast(tokens[ink]!, tokens[surface]!), `${ink} on ${surface}`).toBeGreaterThanOrEqual(4.5);
  expect(contrast(tokens["on-accent"]!, tokens.accent!)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(tokens.ink!, tokens["accent-soft"]!)).toBeGreaterThanOrEqual(4.5);
  expect(contrast(tokens.ink!, tokens["bad-soft"]!)).toBeGreaterThanOrEqual(4.5);
});

test("colours of people and agents carry white text and stand out on light and dark", () => {
  for (const colour of [...PEOPLE_COLOURS, ...AGENT_COLOURS]) {
    expect(contrast("#ffffff", colour), colour).toBeGreaterThanOrEqual(4.5);
    for (const surface of [light.bg!, light.panel!, dark.bg!, dark.panel!])
      expect(contrast(colour, surface), `${colour} on ${surface}`).toBeGreaterThanOrEqual(3);
  }
  expect(new Set([...PEOPLE_COLOURS, ...AGENT_COLOURS]).size).toBe(12);
});

test("a colour stays with whoever has it, and nobody shares one while others are free", () => {
  const palette = createPalette(PEOPLE_COLOURS);
  const ids = Array.from({ length: 8 }, (_, i) => `guest:${i}`);
  const given = ids.map((id) => palette.of(id));
  expect(new Set(given).size).toBe(8);
  palette.of("guest:ninth");
  expect(ids.map((id) => palette.of(id))).toEqual(given);
});

test("windows in which people appear in the same order agree", () => {
  const ids = ["guest:ana", "guest:ben", "guest:chi", "guest:dan", "guest:eva"];
  const [one, other] = [createPalette(PEOPLE_COLOURS), createPalette(PEOPLE_COLOURS)];
  expect(ids.map(one.of)).toEqual(ids.map(other.of));
});

test("a guess gives nothing away", () => {
  const palette = createPalette(PEOPLE_COLOURS);
  const id = "guest:ana";
  const twin = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"].find(
    (each) => preferredPlace(each, 8) === preferredPlace(id, 8),
  )!;
  expect(palette.guess(twin)).toBe(palette.of(id));
  expect(palette.of(twin)).not.toBe(palette.of(id));
  expect(palette.guess(twin)).toBe(palette.of(twin));
});
