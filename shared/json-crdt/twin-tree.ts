import type { Json } from "../protocol/agui.ts";
import { parseIndex } from "./pointer.ts";

/**
 * A value of a {@link TwinTree}. Its identity stays while what is around it changes; its twin is the same
 * value in the other tree.
 */
export class TwinNode {
  /** What it is as long as it is not open; a twin that is not open either is the same. */
  value: Json;
  parent: TwinNode | null = null;
  twin: TwinNode | null = null;
  /** Values of the other tree, besides the twin, in whose place this one came; all are open. */
  readonly stoodFor: TwinNode[] = [];
  /** Its elements or members once it is open; `null` for a scalar. */
  inner: TwinNode[] | Map<string, TwinNode> | null = null;
  /** Whether it was moved in one tree only. */
  isMoved = false;
  /** Whether it became another value in one tree only. */
  isReplaced = false;
  private isOpen = false;

  constructor(value: Json) {
    this.value = value;
  }

  /** Makes nodes of what is inside, for the twin as well. Lazy: most of a document is never looked at. */
  open(): void {
    if (this.isOpen) return;
    const twin = this.twin?.isOpen === false ? this.twin : null;
    this.grow();
    twin?.grow();
    if (this.inner === null || !twin?.inner) return;
    const others = twin.inner.values();
    for (const node of this.inner.values()) linkTwins(node, others.next().value!);
  }

  /** Takes another value at the same place. What was inside is gone. */
  become(value: Json): void {
    this.open();
    for (const node of this.inner?.values() ?? []) node.parent = null;
    this.inner = null;
    this.isReplaced = true;
    this.value = value;
    this.isOpen = false;
  }

  private grow(): void {
    this.isOpen = true;
    if (this.value === null || typeof this.value !== "object") return;
    const under = (value: Json) => {
      const node = new TwinNode(value);
      node.parent = this;
      return node;
    };
    if (Array.isArray(this.value)) this.inner = this.value.map(under);
    else this.inner = new Map(Object.entries(this.value).map(([key, value]) => [key, under(value)]));
  }
}

/** Makes two nodes the same value in two trees. */
export function linkTwins(one: TwinNode, other: TwinNode): void {
  one.twin = other;
  other.twin = one;
}

/** One of two trees over a JSON document that was the same once. Paths given to it have to exist. */
export class TwinTree {
  root: TwinNode;

  constructor(document: Json) {
    this.root = new TwinNode(document);
  }

  at(path: readonly string[]): TwinNode {
    let node = this.root;
    for (const token of path) {
      node.open();
      node = Array.isArray(node.inner) ? node.inner[Number(token)]! : node.inner!.get(token)!;
    }
    return node;
  }

  /** Where a node is; `null` when it is no longer in this tree. */
  pathOf(node: TwinNode): string[] | null {
    const path: string[] = [];
    let at = node;
    for (let { parent } = at; parent !== null; { parent } = at) {
      path.push(tokenIn(parent, at));
      at = parent;
    }
    return at === this.root ? path.reverse() : null;
  }

  /** Takes a node out. The root leaves null. */
  take(node: TwinNode): void {
    const { parent } = node;
    if (parent === null) this.root = new TwinNode(null);
    else if (Array.isArray(parent.inner)) parent.inner.splice(parent.inner.indexOf(node), 1);
    else parent.inner!.delete(tokenIn(parent, node));
    node.parent = null;
  }

  /** Puts a node at a path as `add` does. What an object has there is gone. */
  put(path: readonly string[], node: TwinNode): void {
    const token = path.at(-1);
    node.parent = null;
    if (token === undefined) {
      this.root = node;
      return;
    }
    const parent = this.at(path.slice(0, -1));
    parent.open();
    if (Array.isArray(parent.inner)) parent.inner.splice(parseIndex(token, parent.inner.length), 0, node);
    else {
      const old = parent.inner!.get(token);
      if (old !== undefined) old.parent = null;
      parent.inner!.set(token, node);
    }
    node.parent = parent;
  }

  /** Puts a node in the place of another one. */
  swap(old: TwinNode, node: TwinNode): void {
    const { parent } = old;
    if (parent === null) this.root = node;
    else if (Array.isArray(parent.inner)) parent.inner[parent.inner.indexOf(old)] = node;
    else parent.inner!.set(tokenIn(parent, old), node);
    old.parent = null;
    node.parent = parent;
  }
}

function tokenIn(parent: TwinNode, node: TwinNode): string {
  if (Array.isArray(parent.inner)) return String(parent.inner.indexOf(node));
  for (const [key, inner] of parent.inner!) if (inner === node) return key;
  throw new Error("a node has a parent that does not have it");
}
