import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import type { AGUIEvent, Message } from "../../shared/protocol/index.ts";

/** What must be seen after a {@link Fixture}'s stream was fed to a client. An absent field asserts nothing. */
export type FixtureExpect = {
  /** Whether the client consumed the stream or rejected it; a RUN_ERROR in it is not a rejection. */
  outcome?: "completed" | "failed";
  /** Part of the sentence with which the client rejected. */
  errorContains?: string;
  /** The run reported failure; a string is part of its message. */
  runError?: true | string;
  /** Types given to the application, in order, after chunks were expanded. */
  eventTypes?: string[];
  eventTypesAbsent?: string[];
  /** `<index among the given events>.<dotted path>` → value. */
  eventPaths?: Record<string, unknown>;
  eventAbsentPaths?: string[];
  /** Each is part of some warning. */
  warnings?: string[];
  noWarnings?: boolean;
  messageCount?: number;
  /** Final messages in order; each object names only the fields that count. */
  messages?: unknown[];
  state?: unknown;
  /** What must be in the RunAgentInput that was sent. */
  request?: Record<string, unknown>;
  requestAbsentPaths?: string[];
};

/** One stream of the AG-UI client conformance corpus. */
export type Fixture = {
  name: string;
  area: string;
  description: string;
  /** Pins the peer to an older protocol. */
  client?: { maxProtocolVersion?: string };
  /** What the run starts from. */
  input?: { messages?: Message[] };
  /** Events as they come off the wire, often illegal on purpose. */
  stream: AGUIEvent[];
  /** With what holds for the TypeScript client put in. */
  expect: FixtureExpect;
};

/** What {@link describeWithFixtures} gives to its body. */
export type Fixtures = { traces: Record<string, AGUIEvent[]>; streams: Fixture[] };

const MISSING =
  "the fixtures folder is not beside this checkout (../shared/fixtures); name it in COTHREAD_FIXTURES to run this";

/** The fixtures folder: `COTHREAD_FIXTURES`, else beside the checkout; it may not be there. */
const folder = (): string =>
  process.env.COTHREAD_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder(), ...path), "utf8"));

/**
 * Recorded event streams of a LangGraph agent, by scenario, several runs in each; `null` when the fixtures
 * are not there. Read anew by each call, so a test may change what it gets.
 */
export function langgraphTraces(): Record<string, AGUIEvent[]> | null {
  if (!existsSync(join(folder(), "langgraph-trace.json"))) return null;
  return readJson("langgraph-trace.json") as Record<string, AGUIEvent[]>;
}

/** The AG-UI client conformance corpus in order of name; `null` when the fixtures are not there. */
export function conformance(): Fixture[] | null {
  const streams = join(folder(), "agui-conformance", "streams");
  if (!existsSync(streams)) return null;
  type Raw = Fixture & { expectOverrides?: { typescript?: FixtureExpect & { intentional?: string } } };
  return readdirSync(streams)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => {
      const { expectOverrides, ...fixture } = readJson("agui-conformance", "streams", name) as Raw;
      const { intentional: _why, ...override } = expectOverrides?.typescript ?? {};
      return { ...fixture, expect: { ...fixture.expect, ...override } };
    });
}

/**
 * A `describe` whose tests are made from the fixtures. In a clone that stands alone it holds one skipped test
 * that says what is missing.
 *
 * @param body registers the tests; only called when the fixtures are there
 */
export function describeWithFixtures(name: string, body: (fixtures: Fixtures) => void): void {
  describe(name, () => {
    const traces = langgraphTraces();
    const streams = conformance();
    if (traces === null || streams === null) test("recorded streams", ({ skip }) => skip(MISSING));
    else body({ traces, streams });
  });
}
