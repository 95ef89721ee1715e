import type { Turn, TurnEnd } from "../protocol/index.ts";

/** A turn with its place in the tree. */
export type TurnNode = Turn & { parent: string | null; place: number };

/**
 * The tree of turns and its head ([T1]). A turn is one run, or the messages of one input; its parent is the
 * last turn on the current path when it began. What is visible is the path from the root to the head.
 */
export class TurnTree {
  private nodes = new Map<string, TurnNode>();
  /** Ids of the turns that begin at the end of one, by its id, in the order they began. */
  private below = new Map<string | null, string[]>();
  private path = new Set<string>();
  private changed = new Set<string>();
  head: string | null = null;
  /** Turns that a snapshot has named as beginning at the beginning. */
  roots: readonly string[] = [];
  /** Grows with every change. */
  version = 0;
  /** Grows when {@link visible} may answer otherwise than before. */
  pathVersion = 0;

  get(id: string): TurnNode | undefined {
    return this.nodes.get(id);
  }

  /** All turns, in the order they began. */
  all(): Iterable<TurnNode> {
    return this.nodes.values();
  }

  /**
   * Whether the turn is on the way from the root to the head. A head that moves to a visible turn only hides
   * messages; to any other one it shows messages that a joined client may not hold.
   */
  visible(id: string): boolean {
    return this.path.has(id);
  }

  /** The turns from the root to the head, in order. */
  current(): TurnNode[] {
    const path: TurnNode[] = [];
    let node = this.head === null ? undefined : this.nodes.get(this.head);
    for (; node; node = node.parent === null ? undefined : this.nodes.get(node.parent)) path.push(node);
    return path.reverse();
  }

  /** Turns that begin where this one does, itself among them, in the order they began. */
  siblings(id: string): string[] {
    const node = this.nodes.get(id);
    return node ? this.next(node.parent) : [];
  }

  /** Turns that begin at the end of one, `null` for the beginning, in the order they began. */
  next(id: string | null): string[] {
    // A snapshot names those that it does not hold.
    const named = id === null ? this.roots : (this.nodes.get(id)?.next ?? []);
    return [...new Set([...named, ...(this.below.get(id) ?? [])])];
  }

  /** The newest turn on the branch of a turn: the last that began below it, itself when none did. */
  tip(id: string): string {
    const below = new Set([id]);
    let tip = id;
    // In the order they began, so that a parent comes before its children.
    for (const node of this.nodes.values())
      if (node.parent !== null && below.has(node.parent)) {
        below.add(node.id);
        tip = node.id;
      }
    return tip;
  }

  /** Begins a turn below the head and moves the head to it. A known id is left as it is. */
  begin(turn: Turn): void {
    if (this.nodes.has(turn.id)) return;
    this.put({ ...turn, parent: this.head, place: this.nodes.size });
    this.hang(turn.id, this.head);
    this.head = turn.id;
    this.path.add(turn.id);
    this.pathVersion += 1;
  }

  end(id: string, end: TurnEnd): void {
    const node = this.nodes.get(id);
    if (node) this.put({ ...node, end });
  }

  /** Moves the head; an unknown turn (one outside a client's window) changes nothing. */
  move(head: string | null): void {
    if (head !== null && !this.nodes.has(head)) return;
    this.head = head;
    this.findPath();
  }

  /** Takes a stored turn as it was; call in order of place, then {@link move} to the head. */
  restore(node: TurnNode): void {
    this.nodes.set(node.id, node);
    this.hang(node.id, node.parent);
  }

  /** Takes earlier turns of the current path, in order; those that are here already stay as they are. */
  prepend(earlier: readonly Turn[]): void {
    let root: TurnNode | undefined;
    for (const id of this.path) {
      const node = this.nodes.get(id);
      if (node?.parent === null) root = node;
    }
    const fresh = earlier.filter((turn) => !this.nodes.has(turn.id));
    if (!root || fresh.length === 0) return;
    let parent: string | null = null;
    const first = root.place - fresh.length;
    const nodes = fresh.map((turn, i) => {
      const node: TurnNode = { ...turn, parent, place: first + i };
      parent = turn.id;
      return node;
    });
    this.nodes = new Map([...nodes.map((node) => [node.id, node] as const), ...this.nodes]);
    this.nodes.set(root.id, { ...root, parent });
    this.below = new Map();
    for (const node of this.nodes.values()) this.hang(node.id, node.parent);
    this.findPath();
  }

  /** Turns that changed since this was last called. */
  takeChanges(): TurnNode[] {
    const changed = [...this.changed].map((id) => this.nodes.get(id) as TurnNode);
    this.changed = new Set();
    return changed;
  }

  private hang(id: string, parent: string | null): void {
    const siblings = this.below.get(parent);
    if (siblings) siblings.push(id);
    else this.below.set(parent, [id]);
  }

  private findPath(): void {
    this.path = new Set();
    for (let id = this.head; id !== null; id = this.nodes.get(id)?.parent ?? null) this.path.add(id);
    this.pathVersion += 1;
    this.version += 1;
  }

  private put(node: TurnNode): void {
    this.nodes.set(node.id, node);
    this.changed.add(node.id);
    this.version += 1;
  }
}
