/**
 * The vocabulary of refusals: reject codes, close codes and RUN_ERROR codes (PROTOCOL.md, "Codes").
 * No dependency, so that the browser SDK can import it without a schema library.
 */

/** Why a request frame was refused. `retry` is what the sender's outbox goes by. */
export const REJECTS = {
  bad_frame: { retry: false, when: "a field of the frame is missing or has the wrong shape" },
  bad_message: { retry: false, when: "a message is not a valid AG-UI message, or its role is not `user`" },
  not_supported: {
    retry: false,
    when: "the frame or the option belongs to a feature this server does not have",
  },
  not_found: { retry: false, when: "no such thread, run, input or message that the sender may see" },
  forbidden: { retry: false, when: "the sender's role does not allow it" },
  not_joined: { retry: false, when: "the frame needs a joined thread" },
  no_agent: { retry: false, when: "no agent with that id is configured" },
  conflict: { retry: false, when: "the id was used before for something else" },
  busy: { retry: false, when: "a run is active and the policy is `reject`, or too many inputs wait already" },
  interrupted: { retry: false, when: "the thread waits for answers to open interrupts" },
  not_running: { retry: false, when: "the run named by `cancel` has ended" },
  gone: {
    retry: false,
    when: "what the frame names is over: an input that already runs, a call that was given up",
  },
  stale: { retry: false, when: "the target of a patch is gone" },
  claimed: { retry: false, when: "another client holds the claim" },
  stale_claim: { retry: false, when: "the claim number is not the current one" },
  already_answered: { retry: false, when: "somebody answered the interrupt before" },
  expired: { retry: false, when: "the interrupt's time is over" },
  draft_sent: { retry: false, when: "the shared draft was sent by somebody else" },
  too_big: { retry: false, when: "the content is over a size limit named in `welcome.limits`" },
  rate: { retry: true, when: "too many requests; try again later" },
  quota: { retry: false, when: "a stored-size quota is used up" },
  store_failed: { retry: true, when: "the store could not commit; nothing was changed" },
} as const satisfies Record<string, { retry: boolean; when: string }>;

/** One of the reject codes of {@link REJECTS}. */
export type RejectCode = keyof typeof REJECTS;

/**
 * WebSocket close codes. `again` says what a client does next: `no` = stay away, `refresh` = get a new
 * token or id first, then come back, `yes` = come back with backoff. 44xx is "stay away" for clients
 * that know nothing of Cothread.
 */
export const CLOSES = {
  4000: { name: "shutdown", again: "yes", when: "the server is stopping" },
  4001: { name: "moved", again: "yes", when: "the thread is served by another node" },
  4002: { name: "slow", again: "yes", when: "the reader did not keep up and was cut off" },
  4003: { name: "heartbeat", again: "yes", when: "two pings went unanswered" },
  4005: { name: "expired", again: "yes", when: "the token expired and was not refreshed" },
  4401: { name: "unauthorized", again: "refresh", when: "no valid credential, or no hello within 5 s" },
  4402: {
    name: "bad frame",
    again: "no",
    when: "not a frame of this protocol, or not allowed at this point",
  },
  4403: { name: "forbidden", again: "no", when: "the credential is valid but may not connect here" },
  4404: { name: "unknown", again: "no", when: "the path or thread does not exist" },
  4409: { name: "replaced", again: "no", when: "a newer socket of the same client took over" },
  4410: { name: "generation", again: "refresh", when: "the shared document has a new generation" },
  4413: { name: "too big", again: "no", when: "a frame is over the size limit" },
  4426: { name: "version", again: "no", when: "client and server speak different protocol versions" },
  4429: { name: "rate", again: "refresh", when: "too many connections or frames" },
} as const satisfies Record<number, { name: string; again: "yes" | "no" | "refresh"; when: string }>;

/** One of the close codes of {@link CLOSES}. */
export type CloseCode = keyof typeof CLOSES;

/** Codes of RUN_ERROR events that the server itself writes. An agent's own codes pass through. */
export const RUN_ERRORS = {
  SERVER_RESTART: "the server stopped while the run was under way",
  AGENT_UNREACHABLE: "no connection to the agent could be made",
  AGENT_HTTP: "the agent answered with an HTTP error status",
  AGENT_TIMEOUT: "the agent did not answer, or fell silent, for longer than its limit",
  AGENT_TRUNCATED: "the agent's stream ended before the run did",
  AGENT_INVALID: "the agent sent something that is not a legal AG-UI stream",
  AGENT_TOO_BIG: "the agent sent an event over the size limit",
  AGENT_FAILED: "the agent's own code threw an error",
  STORE_FAILED: "the store could not commit what the agent sent",
} as const satisfies Record<string, string>;

/** One of the server's RUN_ERROR codes. */
export type RunErrorCode = keyof typeof RUN_ERRORS;
