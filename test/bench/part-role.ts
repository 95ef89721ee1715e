/** Calls that a part of a bench answers, by name. What they take and give is plain JSON. */
export type PartCalls = Record<string, (argument: never) => unknown>;

/** What a part tells without being asked. */
export type PartNotice = { notice: string; data: unknown };

/** A part of a bench: made once in a process of its own. */
export type PartRole = (tell: (notice: string, data: unknown) => void) => PartCalls;

/** What travels to a part. */
export type PartRequest = { id: number; call: string; argument: unknown };
/** What travels back. */
export type PartAnswer = { id: number; result?: unknown; error?: string } | PartNotice;
