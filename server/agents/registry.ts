import { HttpAgent } from "@ag-ui/client";
import type { AgentInfo } from "../../shared/protocol/index.ts";
import type { Agent, AgentOptions } from "./agent.ts";

/** An agent with all of its settings filled in. */
export type RegisteredAgent = Required<Omit<AgentOptions, "privateState">> &
  Pick<AgentOptions, "privateState"> & { id: string };

const DEFAULTS = {
  connectMs: 10_000,
  idleMs: 300_000,
  eventBytes: 8 * 1024 * 1024,
  stateBase: "auto" as const,
  hidePeople: false,
};

/** The agents of a server, by id; the first is the default. */
export class AgentRegistry {
  private readonly byId = new Map<string, RegisteredAgent>();

  /**
   * @param agents id → agent, or agent with settings
   * @param defaults settings of agents that say nothing else
   * @throws TypeError naming the id when a value is neither
   */
  constructor(agents: Record<string, Agent | AgentOptions>, defaults: Pick<AgentOptions, "hidePeople"> = {}) {
    for (const [id, value] of Object.entries(agents)) {
      const options = isAgent(value) ? { agent: value } : value;
      if (!isAgent(options?.agent))
        throw new TypeError(
          `agents.${id} is not an agent: give an AbstractAgent, a function (input, context) => events, or an object with run().`,
        );
      const memory = options.agent instanceof HttpAgent ? ("own" as const) : ("none" as const);
      this.byId.set(id, { ...DEFAULTS, ...defaults, memory, name: id, ...options, id });
    }
  }

  /** @returns the agent of that id, the default one without an id, or `undefined` */
  get(id?: string): RegisteredAgent | undefined {
    return id === undefined ? this.byId.values().next().value : this.byId.get(id);
  }

  /** What `welcome` tells clients. */
  list(): AgentInfo[] {
    return [...this.byId.values()].map(({ id, name }, i) => ({
      id,
      name,
      ...(i === 0 && { default: true as const }),
    }));
  }
}

function isAgent(value: unknown): value is Agent {
  return (
    typeof value === "function" ||
    (typeof value === "object" && value !== null && typeof (value as { run?: unknown }).run === "function")
  );
}
