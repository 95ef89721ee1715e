import type { ClaimAck, Tool, ToolInfo, ToolsAck } from "../shared/protocol/index.ts";
import { sameItems } from "./memo.ts";
import type { ThreadCore } from "./thread-core.ts";
import { createTimer } from "./timer.ts";

/** Arguments by a schema library: zod 4.2 and newer, for one, or any that implements Standard JSON Schema. */
type StandardSchema = {
  "~standard": {
    validate(value: unknown): unknown;
    jsonSchema?: { input(options: { target: string }): object };
  };
};

/** A call while its handler runs. */
export type ToolCallContext = {
  readonly toolCallId: string;
  readonly runId: string;
  /** Aborted when the call is given up, or this client has lost it: what the handler returns does not count then. */
  readonly signal: AbortSignal;
};

/** A tool that this client executes. */
export type FrontendTool = {
  name: string;
  /** What it does, for the agent. */
  description?: string;
  /** What it takes: JSON Schema, or a schema of zod; default: an object. */
  parameters?: object;
  /** Does it. What it returns is the result; what it throws is told to the agent as an error. */
  // biome-ignore lint/suspicious/noExplicitAny: what the arguments are is for `parameters` to say
  handler(args: any, call: ToolCallContext): unknown;
};

/** The tools that this client executes in a thread. */
export interface ThreadTools {
  /**
   * Offers a tool to the agents of the thread, which stays joined meanwhile. Calls come to one client only: this one
   * when it has started the run, else the first that takes them.
   * @returns the way out: no new call comes then
   */
  register(tool: FrontendTool): () => void;
  /** Tools that do not count, because another client has another one of that name; with a sentence. */
  readonly refused: readonly { name: string; reason: string }[];
}

/** What tools need of their thread. */
export type ToolsCore = Pick<ThreadCore, "id" | "host" | "held" | "sync" | "emitter" | "change">;

/** Between two renewals of a claim, ms: a third of what it stands without. */
const RENEW_MS = 10_000;

/** Makes {@link ThreadTools}. */
export function createThreadTools(core: ToolsCore): ThreadTools {
  const { id: thread, host, held, sync, emitter } = core;
  const tools = new Map<string, FrontendTool>();
  const running = new Map<string, { n: number; abort: AbortController }>();
  const asking = new Set<string>();
  const later = createTimer(host.clock);
  let refused: ThreadTools["refused"] = [];
  let tells = false;
  let follows = false;
  let seen: unknown[] = [];

  const ask = <T>(frame: object, answered: (fields: T | undefined, details?: unknown) => void) =>
    host.requests.ask(JSON.stringify({ thread, ...frame }), (answer) =>
      answer.ok ? answered(answer.fields as T) : answered(undefined, answer.error.details),
    );
  const tell = () => {
    tells = false;
    if (!sync.joined) return;
    ask<ToolsAck>({ type: "tools", tools: [...tools.values()].map(asTool) }, (ack) => {
      if (ack) refused = ack.refused;
      look();
    });
  };
  // All that one render registers in one frame.
  const tellSoon = () => {
    if (!tells) queueMicrotask(tell);
    tells = true;
  };

  const follow = () => {
    if (follows) return;
    follows = true;
    emitter.on("joined", () => tools.size > 0 && tell());
    emitter.on("change", () => {
      const { timeline, joined } = sync;
      const now = [timeline, timeline?.versions.tools, joined];
      if (sameItems(seen, now) === seen) return;
      seen = now;
      look();
    });
  };

  const look = () => {
    const calls = sync.timeline?.tools;
    for (const [callId, { n, abort }] of running) {
      const call = calls?.get(callId);
      if (calls && (call?.status !== "claimed" || call.n !== n)) abort.abort();
    }
    if (!sync.joined || tools.size === 0) return;
    for (const call of calls?.values() ?? []) {
      const { toolCallId, status, name } = call;
      if (!tools.has(name) || running.has(toolCallId) || asking.has(toolCallId)) continue;
      // What this client had claimed before it was loaded anew is still its own.
      const isMine = call.client === host.client();
      const wait = status === "offered" && !isMine ? (call.until ?? 0) - host.clock.now() : 0;
      if (wait > 0) later.set(wait, look);
      else if (status === "offered" || (status === "claimed" && isMine)) take(call);
    }
  };

  const take = (call: ToolInfo) => {
    const { toolCallId } = call;
    asking.add(toolCallId);
    ask<ClaimAck>({ type: "claim", toolCallId }, (claim, details) => {
      asking.delete(toolCallId);
      const tool = tools.get(call.name);
      if (claim && tool) return void run(call, claim.n, tool);
      // Clocks differ: by the server's the offer is kept for another client still.
      const { until } = (details ?? {}) as { until?: number };
      if (until !== undefined && call.status === "offered")
        later.set(Math.max(500, until - host.clock.now()), look);
    });
  };

  const run = async ({ toolCallId, runId, args }: ToolInfo, n: number, tool: FrontendTool) => {
    const abort = new AbortController();
    const renewal = createTimer(host.clock);
    const renew = () =>
      ask({ type: "claim", toolCallId }, () => {
        if (running.has(toolCallId)) renewal.set(RENEW_MS, renew);
      });
    running.set(toolCallId, { n, abort });
    renewal.set(RENEW_MS, renew);
    let said: { content: unknown; error?: string };
    try {
      const given = await checked(tool, JSON.parse(args || "{}"));
      said = { content: (await tool.handler(given, { toolCallId, runId, signal: abort.signal })) ?? "" };
    } catch (error) {
      said = { content: "", error: error instanceof Error ? error.message : String(error) };
    }
    renewal.clear();
    const isLost = abort.signal.aborted;
    if (isLost) running.delete(toolCallId);
    else
      await core
        .change({ type: "result", key: `${toolCallId} ${n}`, thread, toolCallId, n, ...said })
        .catch(() => {})
        .finally(() => running.delete(toolCallId));
    look();
  };

  return {
    register(tool) {
      follow();
      tools.set(tool.name, tool);
      tellSoon();
      const release = held.hold();
      return () => {
        if (tools.get(tool.name) === tool) {
          tools.delete(tool.name);
          tellSoon();
        }
        release();
      };
    },
    get refused() {
      return refused;
    },
  };
}

function asTool({ name, description = "", parameters = { type: "object" } }: FrontendTool): Tool {
  const standard = (parameters as Partial<StandardSchema>)["~standard"];
  const schema = standard?.jsonSchema?.input({ target: "draft-2020-12" }) ?? parameters;
  return { name, description, parameters: schema } as Tool;
}

/** The arguments as the tool's schema has them. @throws Error saying what does not fit */
async function checked({ parameters }: FrontendTool, args: unknown): Promise<unknown> {
  const standard = (parameters as Partial<StandardSchema> | undefined)?.["~standard"];
  if (!standard) return args;
  const result = (await standard.validate(args)) as {
    value?: unknown;
    issues?: readonly { message: string; path?: readonly unknown[] }[];
  };
  const [issue] = result.issues ?? [];
  if (issue)
    throw new Error(`The arguments do not fit: ${[...(issue.path ?? []), issue.message].join(": ")}`);
  return result.value;
}
