import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Message } from "../../shared/protocol/index.ts";
import { fromSnapshot, reachBelow, Timeline } from "../../shared/timeline/index.ts";
import { entriesOf } from "../kit/entries.ts";
import { histories } from "../kit/histories.ts";
import { expandStock, muteStock, playStock } from "../kit/stock-client.ts";
import { streams } from "../kit/streams.ts";
import { folded, inner, joinedAt, Room, StoredFold, sent, throughJson } from "../kit/timeline-cuts.ts";

muteStock();
vi.setConfig({ testTimeout: 600_000 });

/** How often a property is tried; `npm run test:soak` tries ten times as often. */
const runs = (n: number) => ({ numRuns: process.env.COTHREAD_SOAK ? n * 10 : n });

const logs = (size: number) => streams(size).map((raw) => throughJson(entriesOf(expandStock(raw).events)));

test("generated streams are legal", () => {
  const legal = fc.property(streams(60), (raw) => {
    expect(expandStock(raw).error).toBeNull();
  });
  fc.assert(legal, runs(100));
});

test("[T2] [T5] messages and state are those of a stock client", async () => {
  await fc.assert(
    fc.asyncProperty(streams(30), async (raw) => {
      const stock = await playStock(raw);
      expect(stock.error).toBeNull();
      const timeline = folded(entriesOf(expandStock(raw).events));
      expect(timeline.list).toEqual(stock.messages);
      expect(timeline.state).toEqual(stock.state);
    }),
    runs(150),
  );
});

test("[T3] what is read after some entries is what is there, in the array of before when nothing changed", () => {
  const step = fc.record({ read: fc.boolean(), head: fc.option(fc.nat(9), { freq: 6 }) });
  fc.assert(
    fc.property(logs(40), fc.array(step, { minLength: 1 }), (entries, steps) => {
      const timeline = new Timeline();
      let [list, slots] = [timeline.list, timeline.slots];
      entries.forEach((entry, i) => {
        const { read, head } = steps[i % steps.length] as (typeof steps)[number];
        timeline.apply({ ...entry, seq: entry.seq * 2 });
        const turns = [...timeline.turns.all()];
        const turn = head === null ? undefined : turns[head % turns.length]?.id;
        if (turn !== undefined)
          timeline.apply({ kind: "head", seq: entry.seq * 2 + 1, at: entry.at, turn, why: "switch" });
        if (!read) return;
        const there = timeline.messages.slots.filter(({ turn }) => timeline.turns.visible(turn));
        expectItems(timeline.slots, there, slots);
        expectItems(
          timeline.list,
          there.map(({ message }) => message),
          list,
        );
        [list, slots] = [timeline.list, timeline.slots];
      });
    }),
    runs(300),
  );
});

/** The very same items, and the old array when it has them already. */
function expectItems(items: readonly unknown[], there: readonly unknown[], old: readonly unknown[]): void {
  const same = (a: readonly unknown[]) =>
    a.length === there.length && a.every((item, i) => item === there[i]);
  expect(same(items)).toBe(true);
  if (same(old)) expect(items).toBe(old);
}

test("[J4] a snapshot and the entries behind it give the whole, for every cut", () => {
  fc.assert(
    fc.property(logs(18), (entries) => {
      const uncut = sent(folded(entries));
      for (let cut = 0; cut <= entries.length; cut += 1) {
        const client = fromSnapshot(sent(folded(entries.slice(0, cut))));
        expect(sent(folded(entries.slice(cut), client)), `cut at ${cut}`).toEqual(uncut);
      }
    }),
    runs(200),
  );
});

test("[L6] a stored fold written now and then, and the entries behind it, give the whole, for every cut", () => {
  fc.assert(
    fc.property(logs(24), fc.array(fc.nat(9), { minLength: 1 }), (entries, gaps) => {
      const uncut = folded(entries);
      const store = new StoredFold();
      const timeline = new Timeline();
      let next = 0;
      let writes = 0;
      for (let cut = 0; cut <= entries.length; cut += 1) {
        if (cut > 0) timeline.apply(entries[cut - 1]!);
        if (cut < next) continue;
        next = cut + (gaps[writes % gaps.length] as number);
        writes += 1;
        store.take(timeline);
        const loaded = folded(entries.slice(cut), store.load());
        expect(sent(loaded), `cut at ${cut}`).toEqual(sent(uncut));
        expect(inner(loaded), `cut at ${cut}`).toEqual(inner(uncut));
      }
    }),
    runs(200),
  );
});

test("[P1] [P2] [P3] [P4] a stock client that joins anywhere ends like one that was there from the start", async () => {
  await fc.assert(
    fc.asyncProperty(streams(11), async (raw) => {
      const entries = entriesOf(expandStock(raw).events);
      const uncut = await playStock(raw);
      for (let cut = 0; cut <= entries.length; cut += 1) {
        const events = joinedAt(entries, cut, "t");
        const { messages, state, error } = await playStock(events);
        expect(error, `cut at ${cut}`).toBeNull();
        expect(messages, `cut at ${cut}`).toEqual(uncut.messages);
        expect(state, `cut at ${cut}`).toEqual(uncut.state);
      }
    }),
    runs(70),
  );
});

test("[T1] [J4] whoever joins a thread of many agents and people, anywhere, sees what the server has", () => {
  fc.assert(
    fc.property(histories(12), fc.nat(9), (entries, skip) => {
      const room = new Room();
      for (const [i, entry] of entries.entries()) {
        if (i % (skip + 3) === 0) room.join();
        room.take(entry);
      }
      for (const reader of room.readers) {
        reader.catchUp();
        expect(sent(reader.timeline)).toEqual(sent(room.timeline));
      }
    }),
    runs(100),
  );
});

test("[L6] the stored fold of such a thread loads as it was", () => {
  fc.assert(
    fc.property(histories(12), fc.nat(9), (entries, skip) => {
      const timeline = new Timeline();
      const store = new StoredFold();
      const uncut = folded(entries);
      for (const [i, entry] of entries.entries()) {
        timeline.apply(entry);
        if (i % (skip + 3) > 0) continue;
        store.take(timeline);
        const loaded = folded(entries.slice(i + 1), store.load());
        expect(inner(loaded), `loaded at ${i + 1}`).toEqual(inner(uncut));
      }
    }),
    runs(60),
  );
});

test("[J4] [J5] a reader of the newest messages always shows the last of the thread", () => {
  const pace = fc.array(fc.nat(6), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(histories(14), pace, (entries, steps) => {
      const room = new Room();
      for (const [i, entry] of entries.entries()) {
        const step = steps[i % steps.length] as number;
        if (i % 7 === step && room.readers.length < 5) room.join([0, 1, 2, 3, 5, 8][step % 6]);
        room.take(entry);
        for (const reader of room.readers) {
          if (step < 3) reader.catchUp();
          else if (step === 3) reader.catchUp(1);
          if (step === 4) reader.page(2);
          if (step >= 3) continue;
          expect(reader.timeline.list).toEqual(reader.expected);
          expect(reader.timeline.before).toBeGreaterThanOrEqual(
            room.timeline.list.length - reader.expected.length,
          );
        }
      }
    }),
    runs(90),
  );
});

test("[J3] [J5] a reader that was away is brought back by entries unless one counts on what it lacks", () => {
  fc.assert(
    fc.property(histories(14), fc.nat(4), fc.nat(99), fc.nat(99), (entries, history, a, b) => {
      const [joined, left] = [a, b].map((n) => n % entries.length).sort((x, y) => x - y) as [number, number];
      const room = new Room();
      for (const entry of entries.slice(0, joined)) room.take(entry);
      const reader = room.join(history);
      for (const entry of entries.slice(joined, left)) room.take(entry);
      reader.catchUp();
      const { timeline } = reader;
      const away = entries.slice(left);
      const server = folded(away, room.timeline);
      const first = timeline.slots[0] && server.messages.get(timeline.slots[0].message.id);
      // Without a message that both hold there is nothing to go by.
      if (!first && timeline.before > 0) return;
      const window = timeline.before > 0 ? first!.place : Number.NEGATIVE_INFINITY;
      if (
        away.some(reachBelow(server, window, entries[left - 1]?.seq ?? 0)) ||
        away.some(({ kind }) => kind === "head")
      )
        return;
      const held = server.slots.filter(({ place }) => place >= window).map(({ message }) => message);
      expect(folded(away, timeline).list).toEqual(held);
    }),
    runs(200),
  );
});

test("[P1] [P4] a stock client that joins such a thread anywhere ends with its messages and its state", async () => {
  await fc.assert(
    fc.asyncProperty(histories(6), fc.nat(20), async (entries, skip) => {
      const uncut = folded(entries);
      for (let cut = skip; cut < entries.length; cut += 4 + skip) {
        const { messages, state, error } = await playStock(joinedAt(entries, cut, "t"));
        expect(error, `cut at ${cut}`).toBeNull();
        expect(spoken(messages), `cut at ${cut}`).toEqual(spoken(uncut.list));
        expect(state, `cut at ${cut}`).toEqual(uncut.state);
      }
    }),
    runs(50),
  );
});

/** A head that moves may leave no reasoning in sight, and AG-UI 1.0 clients cannot be told to drop the last. */
const spoken = (messages: readonly Message[]) => messages.filter(({ role }) => role !== "reasoning");
