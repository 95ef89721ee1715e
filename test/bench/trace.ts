import { existsSync, readFileSync } from "node:fs";
import type { AGUIEvent } from "../../shared/protocol/index.ts";
import { besidePeer, type Line } from "./line.ts";
import { ROOT } from "./root.ts";
import type { Bench } from "./runner.ts";
import { traceBytes } from "./trace-bytes.ts";

/** Bytes that a browser gets of recorded LangGraph runs, beside the SSE a stock client would read. */
export const trace: Bench = async (run) => {
  const folder = process.env.COTHREAD_FIXTURES ?? `${ROOT}../shared/fixtures`;
  const file = `${folder}/langgraph-trace.json`;
  if (!existsSync(file))
    throw new Error(`the recorded traces are not at ${file}; name their folder in COTHREAD_FIXTURES`);
  const traces = JSON.parse(readFileSync(file, "utf8")) as Record<string, AGUIEvent[]>;
  const lines: Line[] = [];
  for (const [name, stream] of Object.entries(traces)) {
    for (const [how, privateState] of [
      ["all of the state shared (privateState: [])", []],
      ["private state kept back (default)", undefined],
    ] as const) {
      run.say(`${name}, ${how}`);
      // Bytes are the same each time.
      const { frames, sse } = await traceBytes(stream, privateState);
      lines.push(
        besidePeer({
          bench: "trace",
          case: `${name}, ${how}`,
          unit: "bytes",
          peer: "stock SSE of the same events",
          pairs: [{ ours: frames, theirs: sse }],
          better: "lower",
          bound: { atMost: 0.2 },
        }),
      );
    }
  }
  return lines;
};
