import { isDeepStrictEqual } from "node:util";
import * as Y from "yjs";
import { markGeneration, serverId } from "./generation.ts";

type Type = Y.Doc["share"] extends Map<string, infer Root> ? Root : never;

/** A document cannot be made anew; `message` says why, for the person who runs the server. */
export class NotCarriedError extends Error {
  override readonly name = "NotCarriedError";
}

/**
 * Makes a document of a new generation that shows what an old one shows, without what was deleted in it. Everything
 * is written with the server's id of that generation ([Y8]).
 *
 * It goes by items, not by types: of which type a root is stands nowhere in a document, and is for its readers to say.
 *
 * @param stored the old document as one update
 * @param generation the new one's
 * @returns the new document as one update, and the size of the old one as one, bytes
 * @throws NotCarriedError when something of it would be missing or another
 */
export function freshDocument(
  stored: Uint8Array,
  generation: number,
): { update: Uint8Array; before: number } {
  const [old, fresh, read] = [new Y.Doc(), new Y.Doc(), new Y.Doc()];
  try {
    Y.applyUpdate(old, stored);
    if (old.store.pendingStructs ?? old.store.pendingDs)
      throw new NotCarriedError("It holds changes that build on something that is not there.");
    fresh.clientID = serverId(generation);
    markGeneration(fresh, generation);
    fresh.transact((transaction) => {
      for (const [name, root] of old.share) copy(transaction, root, fresh.get(name));
    });
    const update = Y.encodeStateAsUpdate(fresh);
    // Not believed but looked at: it takes the place of the only copy there is.
    Y.applyUpdate(read, update);
    if (!isDeepStrictEqual(rootsOf(read), rootsOf(old)))
      throw new NotCarriedError("It holds something that cannot be carried over as it is.");
    return { update, before: Y.encodeStateAsUpdate(old).byteLength };
  } finally {
    for (const doc of [old, fresh, read]) doc.destroy();
  }
}

/** One list after the other, so that what stands side by side in one has ids side by side, and takes few bytes. */
function copy(transaction: Y.Transaction, from: Type, to: Type): void {
  const types: [Type, Type][] = [];
  const { store, clientID } = transaction.doc;
  const put = (item: Y.Item, left: Y.Item | null, key: string | null): Y.Item => {
    const content = item.content.copy();
    const id = Y.createID(clientID, Y.getState(store, clientID));
    const made = new Y.Item(id, left, left?.lastId ?? null, null, null, to, key, content);
    made.integrate(transaction, 0);
    if (item.content instanceof Y.ContentType)
      types.push([item.content.type, (content as Y.ContentType).type]);
    return made;
  };
  let left: Y.Item | null = null;
  for (const item of shownIn(from)) left = put(item, left, null);
  for (const [key, item] of from._map) if (!item.deleted) put(item, null, key);
  for (const [old, fresh] of types) copy(transaction, old, fresh);
}

function* shownIn(type: Type): Generator<Y.Item> {
  for (let item = type._start; item; item = item.right) if (!item.deleted) yield item;
}

/** What the roots of a document show, by name; those that show nothing are left out. */
function rootsOf(doc: Y.Doc): Map<string, unknown> {
  const all = [...doc.share].map(([name, root]) => [name, shownBy(root)] as const);
  return new Map(all.filter(([, { list, members }]) => list.length + members.size > 0));
}

/** All that can be seen of a type, whatever kind it is. */
function shownBy(type: Type) {
  const list: unknown[] = [];
  for (const { content } of shownIn(type)) {
    if (content instanceof Y.ContentString) list.push(...content.str.split(""));
    else list.push(...pieces(content));
  }
  const members = new Map<string, unknown>();
  for (const [key, item] of type._map) if (!item.deleted) members.set(key, pieces(item.content));
  return { list, members };
}

function pieces(content: Y.Item["content"]): unknown[] {
  if (content instanceof Y.ContentType) {
    const { type } = content;
    const { nodeName, hookName } = type as { nodeName?: string; hookName?: string };
    return [{ kind: type.constructor, nodeName, hookName, ...shownBy(type) }];
  }
  if (content instanceof Y.ContentFormat) return [{ format: content.key, value: content.value }];
  if (content instanceof Y.ContentDoc) return [{ doc: content.doc.guid, opts: content.opts }];
  return content.getContent();
}
