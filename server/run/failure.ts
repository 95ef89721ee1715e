import type { RunErrorCode } from "../../shared/protocol/index.ts";

/** Why a run could not go on: what its RUN_ERROR says. */
export class RunFailure extends Error {
  override name = "RunFailure";
  readonly code: RunErrorCode;
  /** Name and message of what the agent's own code threw: for the log alone, at most 500 characters. */
  readonly thrown: string | undefined;
  /**
   * @param code the RUN_ERROR code
   * @param message a sentence for the people in the thread
   */
  constructor(code: RunErrorCode, message: string, cause?: unknown, thrown?: string) {
    super(message, { cause });
    this.code = code;
    this.thrown = thrown;
  }
}

/** Longest text of an exception that is logged, characters. */
const THROWN = 500;

const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Puts whatever an agent's stream threw into one of the documented codes.
 * @param error what was thrown
 * @param agent name for the sentence
 * @param stage what had happened by then: whether an HTTP response was being read, and whether its body had
 *   come to its end
 */
export function toFailure(
  error: unknown,
  agent: string,
  stage: { remote: boolean; reading: boolean; ended: boolean },
): RunFailure {
  const known = cause(error, (e) => e instanceof RunFailure);
  if (known) return known as RunFailure;
  const message = error instanceof Error ? error.message : String(error);
  const network = cause(error, (e) => UNREACHABLE.has((e as { code?: string }).code ?? ""));
  const code = (network as { code?: string } | undefined)?.code;
  if (stage.remote && !stage.reading) {
    if (isRuleError(error))
      return new RunFailure("AGENT_FAILED", `${agent} could not be asked: ${reason(error)}.`, error);
    return new RunFailure(
      "AGENT_UNREACHABLE",
      `${agent} cannot be reached${code ? ` (${code})` : ""}. Check that it is running and that its URL is right.`,
      error,
    );
  }
  if (/buffer size exceeded|message size exceeded/i.test(message))
    return new RunFailure("AGENT_TOO_BIG", `${agent} sent an event that is too big.`, error);
  if (cause(error, (e) => (e as { code?: string }).code === "UND_ERR_BODY_TIMEOUT"))
    return new RunFailure("AGENT_TIMEOUT", `${agent} sent nothing for too long.`, error);
  const cut = stage.ended || /terminated|other side closed|mid-frame/i.test(message) || code === "ECONNRESET";
  if (stage.remote && cut)
    return new RunFailure(
      "AGENT_TRUNCATED",
      `The connection to ${agent} ended in the middle of its answer.`,
      error,
    );
  if (stage.remote || isRuleError(error))
    return new RunFailure("AGENT_INVALID", `${agent} broke the AG-UI protocol: ${reason(error)}.`, error);
  if (error == null) return new RunFailure("AGENT_FAILED", `${agent} failed and did not say why.`);
  // What code of the server's owner throws may name hosts, paths and keys: it is for the log, not for everybody.
  return new RunFailure(
    "AGENT_FAILED",
    `${agent} failed with an error. Whoever runs the server finds it in the log.`,
    error,
    brief(error instanceof Error ? `${error.name}: ${message}` : message, THROWN),
  );
}

function cause(error: unknown, test: (error: unknown) => boolean): unknown {
  for (let e = error, depth = 0; e && depth < 8; e = (e as { cause?: unknown }).cause, depth += 1) {
    if (test(e)) return e;
  }
  return undefined;
}

// What enforcement and verification throw: AG-UI's own errors and schema errors.
function isRuleError(error: unknown): boolean {
  const name = (error as { name?: string } | null)?.name ?? "";
  return name === "AGUIError" || name === "ZodError" || name === "$ZodError";
}

/** Why, without the values: what the agent sent is not for the people in the thread to read here. */
function reason(error: unknown): string {
  // The message of a failed parse quotes what could not be parsed.
  if (error instanceof SyntaxError) return "it sent an event that is not JSON";
  const issue = (error as { issues?: { path: PropertyKey[]; message: string }[] } | null)?.issues?.[0];
  const text = issue
    ? `${issue.path.join(".") || "an event"}: ${issue.message}`
    : error instanceof Error
      ? error.message
      : String(error);
  return brief(text).replace(/\.$/, "");
}

function brief(message: string, length = 300): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
