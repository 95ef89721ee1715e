import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { jsonEqual, Patching } from "./patch.ts";
import { formatPointer, parseIndex, parsePointer } from "./pointer.ts";
import { linkTwins, TwinNode, TwinTree } from "./twin-tree.ts";

/**
 * Moves a patch over another one that was made to the same document: the result does, after `over`, to the
 * same values what `patch` would have done to them.
 *
 * Values are found again as `movePath` says. An element is added before the first one behind it that is still
 * in the array, so behind what `over` added at the same place; without one, at the end. Where both set the
 * same place, `patch` is the later one and wins. A copy of what `over` changed becomes an add of what `patch`
 * saw.
 *
 * @param patch a patch that applies to `before`
 * @param over another patch that applies to `before`
 * @param before the document before either; never changed
 * @returns the operations for the document after `over`, as many as `patch` has (a `test` among them may fail
 *   there); `null` when a value that one of them reads or changes is gone, or what it adds to
 * @throws PatchError when one of the two does not apply to `before`; PointerError when a path is none
 */
export function movePatch(patch: JsonPatch, over: JsonPatch, before: Json): JsonPatch | null {
  const mover = new PatchMover(before, over);
  const moved: JsonPatch = [];
  for (const operation of patch) {
    const next = mover.move(operation);
    if (next === null) return null;
    moved.push(next);
  }
  return moved;
}

/** A document with two trees over it: one goes along with the patch, the other with what it is moved over. */
class PatchMover {
  private readonly mine: Patching;
  private readonly mineTree: TwinTree;
  private readonly theirs: Patching;
  private readonly theirTree: TwinTree;

  constructor(before: Json, over: JsonPatch) {
    this.mine = new Patching(before);
    this.mineTree = new TwinTree(before);
    this.theirTree = new TwinTree(before);
    linkTwins(this.mineTree.root, this.theirTree.root);
    const patching = new Patching(before);
    for (const operation of over) {
      patching.apply(operation);
      this.follow(operation, parsePointer(operation.path), patching.value);
    }
    // A new one: what both copy together has no limit here.
    this.theirs = new Patching(patching.value);
  }

  /** Does in their tree what an operation of `over` did. */
  private follow(operation: JsonPatchOperation, path: string[], after: Json): void {
    const tree = this.theirTree;
    switch (operation.op) {
      case "replace":
        return tree.at(path).become(operation.value as Json);
      case "remove":
        return tree.take(tree.at(path));
      case "add":
      case "copy": {
        // A copy can no longer change, so it may be kept as it is.
        const value = operation.op === "add" ? (operation.value as Json) : valueAt(after, path);
        const old = overwritten(tree, path);
        return old === null ? tree.put(path, new TwinNode(value)) : old.become(value);
      }
      case "move": {
        const from = parsePointer(operation.from!);
        if (formatPointer(from) === formatPointer(path)) return;
        const node = tree.at(from);
        tree.take(node);
        node.isMoved = true;
        const old = overwritten(tree, path);
        // Whoever meant the value that was there means this one now, but nothing in it.
        old?.become(null);
        tree.put(path, node);
        for (const meant of old ? [old.twin, ...old.stoodFor] : []) {
          if (meant === null) continue;
          meant.twin = node;
          node.stoodFor.push(meant);
        }
      }
    }
  }

  /** Moves the next operation of the patch; `null` when it has lost its target. */
  move(operation: JsonPatchOperation): JsonPatchOperation | null {
    const path = parsePointer(operation.path);
    const moved = this.moveBy(operation, path);
    if (moved !== null && moved.op !== "test") this.theirs.apply(moved);
    return moved;
  }

  private moveBy(operation: JsonPatchOperation, path: string[]): JsonPatchOperation | null {
    // Refuses what does not apply, so that from here on every path exists.
    const { mine, mineTree, theirTree } = this;
    mine.apply(operation);
    switch (operation.op) {
      case "test":
      case "remove":
      case "replace": {
        const place = this.placeOf(path);
        if (place === null) return null;
        const node = mineTree.at(path);
        if (operation.op === "remove") {
          theirTree.take(theirTree.at(place));
          mineTree.take(node);
          if (path.length + place.length === 0) linkTwins(mineTree.root, theirTree.root);
        } else if (operation.op === "replace") {
          const [one, other] = twins(operation.value as Json);
          theirTree.swap(theirTree.at(place), other);
          mineTree.swap(node, one);
        }
        return { ...operation, path: formatPointer(place) };
      }
      case "add":
        return this.moveAdd(operation, path, operation.value as Json);
      case "copy": {
        const from = parsePointer(operation.from!);
        const source = this.placeOf(from);
        if (source === null) return null;
        const value = valueAt(mine.value, path);
        if (jsonEqual(value, valueAt(this.theirs.value, source)))
          return this.moveAdd({ ...operation, from: formatPointer(source) }, path, value);
        const { from: _from, ...rest } = operation;
        return this.moveAdd({ ...rest, op: "add", value }, path, value);
      }
      case "move": {
        const from = parsePointer(operation.from!);
        const source = this.placeOf(from);
        if (source === null) return null;
        const moved = { ...operation, from: formatPointer(source) };
        if (formatPointer(from) === formatPointer(path)) return { ...moved, path: moved.from };
        const one = mineTree.at(from);
        const other = theirTree.at(source);
        mineTree.take(one);
        theirTree.take(other);
        const target = this.targetOf(path);
        if (target === null) return null;
        mineTree.put(path, one);
        theirTree.put(target, other);
        other.isMoved = false;
        linkTwins(one, other);
        return { ...moved, path: formatPointer(target) };
      }
    }
  }

  private moveAdd(operation: JsonPatchOperation, path: string[], value: Json): JsonPatchOperation | null {
    const target = this.targetOf(path);
    if (target === null) return null;
    const [one, other] = twins(value);
    this.mineTree.put(path, one);
    this.theirTree.put(target, other);
    return { ...operation, path: formatPointer(target) };
  }

  /** Where the value at a path of the patch is in their document. */
  private placeOf(path: string[]): string[] | null {
    const { twin } = this.mineTree.at(path);
    return twin && this.theirTree.pathOf(twin);
  }

  /** Where in their document to put what the patch puts at a path. */
  private targetOf(path: string[]): string[] | null {
    const token = path.at(-1);
    if (token === undefined) return [];
    const parent = this.mineTree.at(path.slice(0, -1));
    parent.open();
    const { twin } = parent;
    // A container that came in the place of the one meant is not what the patch knows.
    const place = twin && this.theirTree.pathOf(twin);
    if (!twin || !place || twin.twin !== parent || twin.isReplaced) return null;
    if (!Array.isArray(parent.inner) || token === "-") return [...place, token];
    const elements = twin.inner as TwinNode[];
    for (const behind of parent.inner.slice(parseIndex(token, parent.inner.length)))
      if (behind.twin?.parent === twin && !behind.twin.isMoved)
        return [...place, String(elements.indexOf(behind.twin))];
    return [...place, String(elements.length)];
  }
}

function twins(value: Json): [TwinNode, TwinNode] {
  const pair: [TwinNode, TwinNode] = [new TwinNode(value), new TwinNode(value)];
  linkTwins(...pair);
  return pair;
}

/** The value that something put at a path takes the place of; `null` for none, as in arrays. */
function overwritten(tree: TwinTree, path: string[]): TwinNode | null {
  const token = path.at(-1);
  if (token === undefined) return tree.root;
  const parent = tree.at(path.slice(0, -1));
  parent.open();
  return parent.inner instanceof Map ? (parent.inner.get(token) ?? null) : null;
}

/** The value at a path that exists; `-` is the last element, as it is once something was put there. */
function valueAt(document: Json, path: string[]): Json {
  let value = document;
  for (const token of path)
    value = Array.isArray(value)
      ? value.at(token === "-" ? -1 : Number(token))!
      : (value as { [key: string]: Json })[token]!;
  return value;
}
