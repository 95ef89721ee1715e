import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { duration, series } from "../client/app/phrases.ts";
import { words } from "../client/app/words.ts";

/** All texts, those that need something with examples of it. */
function texts(value: unknown, path = "words"): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function")
    return [[path, String(path.endsWith(".typing") ? value(["Ana", "Ben"]) : value(3, 5))]];
  return Object.entries(value as object).flatMap(([key, each]) => texts(each, `${path}.${key}`));
}

test("every text says something, plainly", () => {
  for (const [path, text] of texts(words)) {
    expect(text.trim(), path).not.toBe("");
    expect(text, path).not.toMatch(/undefined|null|NaN|\[object|oops|please|!|—| {2,}(?=\S{2})/i);
  }
});

test("counts and spans read as people say them", () => {
  expect(series([])).toBe("");
  expect(series(["Ana"])).toBe("Ana");
  expect(series(["Ana", "Ben", "Chi"])).toBe("Ana, Ben and Chi");
  expect(duration(59)).toBe("59 s");
  expect(duration(60)).toBe("1 min");
  expect(duration(125)).toBe("2 min 5 s");
  expect(words.people.typing(["Ana"])).toBe("Ana is typing");
  expect(words.people.typing(["Ana", "Ben"])).toBe("Ana and Ben are typing");
  expect(words.people.typing(["Ana", "Ben", "Chi", "Dan"])).toBe("Ana, Ben and 2 more are typing");
  expect(words.work.thought(0)).toBe("Thought briefly");
  expect(words.work.items(1)).toBe("1 result");
});

test("the parts of the app say nothing of their own", () => {
  const folder = new URL("../client/app/parts/", import.meta.url);
  const own: string[] = [];
  for (const file of readdirSync(folder)) {
    const text = readFileSync(new URL(file, folder), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    // Between tags, and in attributes that are read or heard.
    for (const [, said = ""] of text.matchAll(/<\/?\w[^<>{}=]*>\s*([A-Za-z][^<>{}()=;]*?)\s*</g))
      own.push(`${file}: ${said}`);
    for (const [, said = ""] of text.matchAll(/\b(?:title|placeholder|aria-label|alt)="([^"]+)"/g))
      own.push(`${file}: ${said}`);
  }
  expect(own).toEqual([]);
});
