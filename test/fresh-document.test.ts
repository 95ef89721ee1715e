import fc from "fast-check";
import { expect, test } from "vitest";
import * as Y from "yjs";
import { freshDocument, NotCarriedError } from "../server/room/fresh-document.ts";
import { readStateVector } from "../server/room/state-vector.ts";
import { stateOf } from "../shared/json-crdt/y-json.ts";
import type { Json, JsonPatch } from "../shared/protocol/index.ts";
import { StateAgent, StateWorld, YPeer } from "./kit/state-world.ts";

const docOf = (update: Uint8Array): Y.Doc => {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, update);
  return doc;
};
const clocksOf = (doc: Y.Doc) => readStateVector(Y.encodeStateVector(doc))!;

type Deed = { what: number; at: number; value: number };
const deeds = fc.array(fc.record({ what: fc.nat(11), at: fc.nat(9), value: fc.nat(99) }), { maxLength: 60 });

const START = { items: [{ id: "a", note: "one" }], tags: ["x"], k: {}, document: "One.\n" };

/** Does something somewhere in a document: the state, the draft, or a root of the application. */
function deed({ doc }: YPeer, { what, at, value }: Deed): void {
  const state = doc.getMap("state");
  const [draft, rich, body] = [doc.getText("draft"), doc.getText("rich"), doc.getXmlFragment("body")];
  const tags = state.get("tags") as Y.Array<Json> | undefined;
  const place = (length: number) => at % (length + 1);
  switch (what) {
    case 0:
      return draft.insert(place(draft.length), `d${value} \u{1f600}`);
    case 1:
      return draft.delete(place(draft.length), Math.min(value, draft.length - place(draft.length)));
    case 2:
      return rich.insert(place(rich.length), `r${value}`, value % 2 ? { bold: true } : {});
    case 3:
      return rich.format(place(rich.length), Math.min(3, rich.length - place(rich.length)), { i: value });
    case 4:
      return rich.insertEmbed(place(rich.length), { image: `${value}.png` });
    case 5: {
      const element = new Y.XmlElement(`p${value % 3}`);
      element.setAttribute("class", `c${value}`);
      element.insert(0, [new Y.XmlText(`text ${value}`)]);
      return body.insert(place(body.length), [element]);
    }
    case 6:
      return body.length > 0 ? body.delete(at % body.length, 1) : undefined;
    case 7:
      return void doc.getMap("app").set(`k${at}`, new Uint8Array([value, at]));
    case 8:
      return doc.getArray("list").insert(0, [value, `${value}`, { value }, new Y.Map([["v", value]])]);
    case 9:
      return tags?.insert(place(tags.length), [value, `t${value}`]);
    case 10:
      return void state.set(`k${at}`, new Y.Map<unknown>([["list", Y.Array.from([value])]]));
    default:
      return state.delete(`k${at}`);
  }
}

/** What applications read of a document. */
function seen(doc: Y.Doc) {
  return {
    state: stateOf(doc),
    draft: doc.getText("draft").toDelta(),
    rich: doc.getText("rich").toDelta(),
    body: doc.getXmlFragment("body").toString(),
    app: doc.getMap("app").toJSON(),
    list: doc.getArray("list").toJSON(),
  };
}

test("[Y8] a document made anew shows what the old one showed, and state, log and runs go on", () => {
  fc.assert(
    fc.property(deeds, deeds, ([...before], [...after]) => {
      const world = new StateWorld(START);
      const [ana, ben] = [new YPeer(world, 5_001), new YPeer(world, 9_001)];
      const agent = new StateAgent(world, "planner");
      const live = (peer: YPeer, some: readonly Deed[]) => {
        agent.begin();
        for (const [i, one] of some.entries()) {
          peer.doc.transact(() => deed(peer, one));
          if (i % 3 === 0) agent.change({ op: "add", path: "/progress", value: one.value });
          if (i % 5 === 0) peer.push();
        }
        peer.push();
        agent.end();
        world.commit();
      };
      live(ana, before);
      ben.pull();
      live(ben, before.slice(0, 9));
      const old = docOf(world.shared.document.encode());

      world.compact();
      const made = docOf(world.shared.document.encode());
      expect(seen(made)).toEqual(seen(old));
      expect(world.shared.document.state).toEqual(world.state);
      expect([...clocksOf(made).keys()]).toEqual([65]);
      for (const peer of [ana, ben])
        expect(world.shared.document.isOfOtherGeneration(clocksOf(peer.doc))).toBe(true);
      expect(world.shared.document.isOfOtherGeneration(clocksOf(made))).toBe(false);

      // The ids 1 to 15 of replicas begin at 0 again, and nobody is left who knew the former ones.
      const cy = new YPeer(world, 5_001);
      live(cy, after);
      cy.pull();
      expect(world.shared.document.state).toEqual(world.state);
      expect(seen(docOf(world.shared.document.encode()))).toEqual(seen(cy.doc));
      expect(cy.state).toEqual(world.state);
      expect(world.shared.document.isOfOtherGeneration(clocksOf(cy.doc))).toBe(false);
    }),
    { numRuns: 150 },
  );
});

test("[H9] what a run did before can be taken back in the document made anew", () => {
  const world = new StateWorld(START);
  const agent = new StateAgent(world, "planner");
  const change: JsonPatch = [{ op: "add", path: "/tags/1", value: "y" }];
  agent.begin();
  const { run } = agent;
  agent.change(...change);
  agent.end();
  world.commit();
  world.compact();
  expect(world.shared.revert(world, { kind: "system" }, run, world.changesFrom(run))).toEqual([]);
  expect(world.state).toEqual(START);
  expect(world.shared.document.state).toEqual(START);
});

test("[Y8] an empty document says of which generation it is, and so does one that only peers wrote in", () => {
  const world = new StateWorld({});
  const ana = new YPeer(world, 5_001);
  expect(clocksOf(ana.doc)).toEqual(new Map([[64, 1]]));
  ana.doc.getText("draft").insert(0, "typed");
  ana.push();
  world.commit();
  world.compact();
  // Nothing of it has the server's ids but what begins a generation.
  expect(world.shared.document.isOfOtherGeneration(clocksOf(ana.doc))).toBe(true);
  expect(clocksOf(docOf(freshDocument(Y.encodeStateAsUpdate(new Y.Doc()), 7).update))).toEqual(
    new Map([[71, 1]]),
  );
});

test("[Y8] what was typed and deleted takes no bytes, and what stands side by side takes few", () => {
  const doc = new Y.Doc();
  const text = doc.getText("draft");
  for (let i = 0; i < 500; i += 1) {
    text.insert(0, "ab");
    text.delete(1, 1);
  }
  const fresh = freshDocument(Y.encodeStateAsUpdate(doc), 1).update;
  expect(docOf(fresh).getText("draft").toString()).toBe("a".repeat(500));
  expect(fresh.byteLength).toBeLessThan(550);
});

test("[Y8] a document with changes that build on what is not there stays as it is", () => {
  const doc = new Y.Doc();
  doc.getText("draft").insert(0, "first");
  const known = Y.encodeStateVector(doc);
  doc.getText("draft").insert(5, "second");
  expect(() => freshDocument(Y.encodeStateAsUpdate(doc, known), 1)).toThrow(NotCarriedError);
});

test("[Y8] a document within a document is carried over", () => {
  const doc = new Y.Doc();
  const inner = new Y.Doc({ guid: "inner", autoLoad: true, meta: { title: "x" } });
  doc.getMap("app").set("inner", inner);
  doc.getText("rich").insertEmbed(0, { a: 1 });
  const made = docOf(freshDocument(Y.encodeStateAsUpdate(doc), 1).update)
    .getMap("app")
    .get("inner") as Y.Doc;
  expect(made).toMatchObject({ guid: "inner", autoLoad: true, meta: { title: "x" } });
});
