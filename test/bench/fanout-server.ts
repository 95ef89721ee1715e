import { type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/core";
import { createServer } from "../../server/index.ts";
import { Bursts } from "./bursts.ts";
import { cpuMs } from "./cpu.ts";
import { monotonicMs } from "./monotonic.ts";
import type { PartRole } from "./part-role.ts";
import { sampleEvents } from "./sample-events.ts";

/** How the source is held, and where the store lies. */
export type FanoutStart = { store: string; eventBytes: number; burst: number; window: number };
/** When it began, and the CPU time the process had used by then. */
export type Went = { startMs: number; cpuMs: number };

/** The real server with one agent in its process that streams as many events as it is told to. */
export const fanoutServer: PartRole = () => {
  let bursts: Bursts;
  let begin = (_count: number) => {};

  async function* stream({ threadId, runId }: RunAgentInput, eventBytes: number): AsyncGenerator<BaseEvent> {
    yield { type: EventType.RUN_STARTED, threadId, runId } as BaseEvent;
    const events = sampleEvents(eventBytes);
    for (;;) {
      const count = await new Promise<number>((resolve) => {
        begin = resolve;
      });
      for (let i = 0; i < count; i += 1) {
        yield events.next().value;
        const pause = bursts.count(1);
        if (pause) await pause;
      }
    }
  }

  return {
    async start({ store, eventBytes, burst, window }: FanoutStart): Promise<string> {
      bursts = new Bursts(burst, window);
      const server = await createServer({
        port: 0,
        store,
        app: false,
        logLevel: "silent",
        agents: { source: (input) => stream(input, eventBytes) },
      });
      return server.url;
    },
    go({ count }: { count: number }): Went {
      bursts.reset();
      const went = { startMs: monotonicMs(), cpuMs: cpuMs() };
      begin(count);
      return went;
    },
    progress: (read: number) => bursts.progress(read),
    cpuMs,
  };
};
