import type { Catalogue } from "./runner.ts";

/** The benches of `npm run bench`; what each is held to stands in DESIGN's table of figures. */
export const CATALOGUE: Catalogue = {
  fanout: async () => (await import("./fanout.ts")).fanout,
  ingest: async () => (await import("./ingest.ts")).ingest,
  join: async () => (await import("./join.ts")).join,
  latency: async () => (await import("./latency.ts")).latency,
  idle: async () => (await import("./idle.ts")).idle,
  start: async () => (await import("./start.ts")).start,
  state: async () => (await import("./state.ts")).state,
  trace: async () => (await import("./trace.ts")).trace,
  hostile: async () => (await import("./hostile.ts")).hostile,
  yjs: async () => (await import("./yjs.ts")).yjs,
  size: async () => (await import("./size.ts")).size,
};
