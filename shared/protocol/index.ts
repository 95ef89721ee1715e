/** The wire protocol and the log's entries: zod schemas with inferred types, and the code tables. */
export * from "./acks.ts";
export * from "./agui.ts";
export * from "./codes.ts";
export * from "./entries.ts";
export * from "./frames-down.ts";
export * from "./frames-up.ts";
export * from "./ids.ts";
export * from "./mention.ts";
export * from "./turn.ts";
export * from "./version.ts";
