import { expect, test } from "vitest";
import { anchorOf, followsAfterScroll, scrollBack, toEnd } from "../client/app/stick.ts";

const box = (scrollTop: number, scrollHeight = 1_000, clientHeight = 400) => ({
  scrollTop,
  scrollHeight,
  clientHeight,
});

test("the end is what is left below", () => {
  expect(toEnd(box(600))).toBe(0);
  expect(toEnd(box(100))).toBe(500);
  expect(toEnd(box(700))).toBe(0);
});

test("one pixel up lets go, also while the text grows", () => {
  expect(followsAfterScroll(true, box(600), box(599))).toBe(false);
  expect(followsAfterScroll(true, box(600), box(590, 1_022))).toBe(false);
});

test("growth alone does not let go", () => {
  expect(followsAfterScroll(true, box(600), box(600, 1_100))).toBe(true);
});

test("what shrinks pushes the box up and keeps it at its end", () => {
  expect(followsAfterScroll(true, box(600), box(550, 950))).toBe(true);
  expect(followsAfterScroll(true, box(600), box(500, 1_000, 500))).toBe(true);
});

test("coming near the end takes hold again, staying away does not", () => {
  expect(followsAfterScroll(false, box(300), box(400))).toBe(false);
  expect(followsAfterScroll(false, box(500), box(570))).toBe(true);
});

test("the anchor is the first thing that is seen, and stays where it is", () => {
  const items = [
    { item: "a", top: -300, bottom: -20 },
    { item: "b", top: -20, bottom: 180 },
    { item: "c", top: 180, bottom: 900 },
  ];
  const anchor = anchorOf(items);
  expect(anchor).toEqual({ item: "b", offset: -20 });
  // 500 px were put above it.
  expect(scrollBack(anchor, 480)).toBe(500);
  // It was folded up above.
  expect(scrollBack(anchor, -120)).toBe(-100);
  expect(scrollBack(anchor, undefined)).toBe(0);
  expect(scrollBack(null, 10)).toBe(0);
  expect(anchorOf([])).toBeNull();
});
