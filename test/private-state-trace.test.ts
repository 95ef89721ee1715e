import { expect, test } from "vitest";
import { traceBytes } from "./bench/trace-bytes.ts";
import { describeWithFixtures } from "./kit/fixtures.ts";

/** What bytes to a browser are held to, as parts of the stock SSE's: all recordings together, and each. */
const BOUND = 0.2;
const BOUND_OF_ONE = 0.3;

const percent = (part: number) => `${(part * 100).toFixed(1)} %`;

describeWithFixtures("recorded LangGraph runs", ({ traces }) => {
  test.each(Object.entries(traces))(
    "[H7] %s: bookkeeping stays on the server, and few bytes leave it",
    async (name, stream) => {
      const kept = await traceBytes(stream);
      const all = await traceBytes(stream, []);
      console.log(
        `${name}: ${percent(kept.frames / kept.sse)} of stock SSE with private state kept back, ${percent(all.frames / all.sse)} with all of it shared`,
      );
      const isState = /^STATE_(?:SNAPSHOT|DELTA)$/;
      const states = kept.entries.filter((e) => e.kind !== "event" || isState.test(e.event.type));
      const sent = JSON.stringify(states);
      expect(sent).toContain("STATE_DELTA");
      expect(sent).not.toMatch(/additional_kwargs|response_metadata|copilotkit/);
      expect(JSON.stringify(kept.snapshot)).not.toMatch(/additional_kwargs|response_metadata|copilotkit/);
      for (const key of ["messages", "tools", "copilotkit", "ag-ui"])
        expect(Object.keys(kept.snapshot.state as object)).not.toContain(key);
      // With all of it shared the state is what the agent said last.
      const last = stream.findLast(({ type }) => (type as string) === "STATE_SNAPSHOT");
      expect(all.snapshot.state).toEqual(last?.snapshot);
      expect(kept.frames / kept.sse).toBeLessThanOrEqual(BOUND_OF_ONE);
      expect(kept.frames).toBeLessThan(all.frames);
    },
  );

  test("[H7] with private state kept back, all recordings together are a fifth of stock SSE at most", async () => {
    const sums = { frames: 0, sse: 0 };
    for (const stream of Object.values(traces)) {
      const { frames, sse } = await traceBytes(stream);
      sums.frames += frames;
      sums.sse += sse;
    }
    console.log(`all recordings: ${percent(sums.frames / sums.sse)} of stock SSE`);
    expect(sums.frames / sums.sse).toBeLessThanOrEqual(BOUND);
  });
});
