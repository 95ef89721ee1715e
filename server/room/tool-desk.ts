import type { Clock } from "../../shared/clock.ts";
import type { Tool } from "../../shared/protocol/index.ts";
import type { Executor } from "../run/claims.ts";
import type { Caller } from "./port.ts";

/** How long a client's tools stay when its last connection has gone, ms. */
const STAYS_MS = 30_000;

type Registration = { tools: Map<string, Tool>; connections: Set<string>; cancelLeave: () => void };

/**
 * The tools that clients of a thread execute ([K1]). They live as long as their client: until half a minute after its
 * last connection.
 */
export class ToolDesk {
  private readonly byClient = new Map<string, Registration>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Sets what a client executes.
   * @returns names that count, and those that do not, with a sentence
   */
  register(
    { client, connection, user }: Caller,
    tools: readonly Tool[],
  ): { accepted: string[]; refused: { name: string; reason: string }[] } {
    const key = keyOf(user.id, client);
    const mine = this.byClient.get(key) ?? {
      tools: new Map(),
      connections: new Set(),
      cancelLeave: () => {},
    };
    this.byClient.set(key, mine);
    mine.connections.add(connection);
    mine.cancelLeave();
    mine.tools = new Map();
    const taken = this.union();
    const refused: { name: string; reason: string }[] = [];
    for (const tool of tools) {
      const other = taken.get(tool.name) ?? mine.tools.get(tool.name);
      if (other && !isSame(other, tool))
        refused.push({
          name: tool.name,
          reason: `Another client here has a tool "${tool.name}" with other parameters. Give yours another name.`,
        });
      else mine.tools.set(tool.name, tool);
    }
    if (mine.tools.size === 0) this.byClient.delete(key);
    return { accepted: [...mine.tools.keys()], refused };
  }

  /** A connection of a client is here again. */
  joined({ client, connection, user }: Caller): void {
    const mine = this.byClient.get(keyOf(user.id, client));
    mine?.cancelLeave();
    mine?.connections.add(connection);
  }

  /** A connection has gone. */
  left(connection: string): void {
    for (const [key, mine] of this.byClient) {
      if (!mine.connections.delete(connection) || mine.connections.size > 0) continue;
      mine.cancelLeave = this.clock.after(STAYS_MS, () => this.byClient.delete(key));
    }
  }

  /** Whether a client that is here, or was a moment ago, has registered a tool. */
  provides({ client, by }: Executor, tool: string): boolean {
    return by.kind === "user" && (this.byClient.get(keyOf(by.id, client))?.tools.has(tool) ?? false);
  }

  /** All tools by name: what agents are told that clients can do. */
  union(): Map<string, Tool> {
    const all = new Map<string, Tool>();
    for (const { tools } of this.byClient.values())
      for (const [name, tool] of tools) if (!all.has(name)) all.set(name, tool);
    return all;
  }

  /** Lets go of its timers. */
  close(): void {
    for (const { cancelLeave } of this.byClient.values()) cancelLeave();
    this.byClient.clear();
  }
}

/** Tools of clients, and those that came with an input, which win. */
export function withOwn(all: ReadonlyMap<string, Tool>, own: readonly Tool[] = []): Tool[] {
  return [...new Map([...all, ...own.map((tool) => [tool.name, tool] as const)]).values()];
}

/** Clients choose their ids themselves, so the user is part of what they are known by. */
function keyOf(user: string, client: string): string {
  return `${user}/${client}`;
}

function isSame(a: Tool, b: Tool): boolean {
  return JSON.stringify(sorted(a.parameters)) === JSON.stringify(sorted(b.parameters));
}

/** The same JSON with the members of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
