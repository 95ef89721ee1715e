import type { Author, ToolInfo } from "../../shared/protocol/index.ts";
import type { Timeline } from "../../shared/timeline/index.ts";
import type { Fault } from "./fault.ts";

/** How long a claim stands without being renewed, ms. */
export const LEASE_MS = 30_000;
/** How long the client that started a run is the only one that may take its calls, ms. */
export const FIRST_MS = 2_000;

/** A client that executes calls, and whose it is: clients choose their ids themselves. */
export type Executor = { client: string; by: Author };

const GONE: Fault = {
  code: "gone",
  message: "This call is over: it was answered, or given up with its run.",
};

/** Calls that people's clients are to execute, and that have no result yet. */
export function offeredCalls({ tools }: Timeline): ToolInfo[] {
  return [...tools.values()].filter(({ status }) => status === "offered" || status === "claimed");
}

/**
 * Whether a client may execute a call now ([K2]).
 * @param mine who claims
 * @param provides whether a client that is here has registered the tool
 * @param now by the server's clock, ms
 * @returns the claim's number and end, or why not
 */
export function claim(
  call: ToolInfo | undefined,
  mine: Executor,
  provides: (executor: Executor, tool: string) => boolean,
  now: number,
): { n: number; until: number } | Fault {
  if (!call || call.status === "answered") return GONE;
  const { status, name, n = 0, until = 0 } = call;
  if (!provides(mine, name))
    return { code: "forbidden", message: `This client has no tool "${name}". Register it first.` };
  const other = executorOf(call);
  const isMine = other !== null && isSame(other, mine);
  if (status === "claimed" && isMine) return { n, until: now + LEASE_MS };
  const isTaken = status === "claimed" && until > now;
  // An offer may be kept for the client that started the run, as long as that is here.
  const isKept = status === "offered" && until > now && other && !isMine && provides(other, name);
  if (isTaken || isKept)
    return {
      code: "claimed",
      message: "Another client executes this call.",
      details: { client: call.client, by: call.by, until },
    };
  return { n: n + 1, until: now + LEASE_MS };
}

/** Whether a client holds the claim of that number. @returns why not, or `null` */
export function faultOfHolder(call: ToolInfo | undefined, mine: Executor, n: number): Fault | null {
  if (!call || call.status === "answered") return GONE;
  const holder = executorOf(call);
  if (call.status === "claimed" && holder && isSame(holder, mine) && call.n === n) return null;
  return {
    code: "stale_claim",
    message: "This claim has ended, and somebody else may be executing the call. Its result does not count.",
  };
}

function executorOf({ client, by }: ToolInfo): Executor | null {
  return client === undefined || !by ? null : { client, by };
}

function isSame(a: Executor, b: Executor): boolean {
  return a.client === b.client && a.by.kind === b.by.kind && idOf(a.by) === idOf(b.by);
}

const idOf = (by: Author) => ("id" in by ? by.id : "");
