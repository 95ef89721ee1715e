import type { Clock } from "../shared/clock.ts";
import type { DownFrame, DownFrameOf, UpFrameOf } from "../shared/protocol/index.ts";
import { PROTOCOL, SUBPROTOCOL } from "../shared/protocol/version.ts";
import { type Backoff, backoffMs } from "./backoff.ts";
import { CothreadError } from "./cothread-error.ts";
import { environment, watchPage } from "./environment.ts";
import type { SocketConstructor, SocketLike } from "./socket.ts";
import { createTimer } from "./timer.ts";

/**
 * - `connecting`: not there yet; the first attempt is under way, or nothing has needed the server so far
 * - `live`: the server has said welcome
 * - `reconnecting`: cut off; `retryAt` says when the next attempt begins, without it one is under way
 * - `offline`: the same, and the browser says that there is no network
 * - `closed`: by `close()`
 * - `refused`: the server wants no connection from this client; `error` says why, `reconnect()` tries again
 */
export type ConnectionStatus = "connecting" | "live" | "reconnecting" | "offline" | "closed" | "refused";

/** Where the connection stands; a new object whenever something changed. */
export type ConnectionState = {
  readonly status: ConnectionStatus;
  /** When the next attempt begins, ms since the epoch. */
  readonly retryAt?: number;
  /** Why it is not live, a sentence for people. */
  readonly reason?: string;
  /** Set when `status` is `refused` or `closed`. */
  readonly error?: CothreadError;
};

/** Silence after which the server is asked for a sign of life, ms. */
export const QUIET_MS = 30_000;
/** Time the server has to give it, ms. */
export const DEAD_MS = 10_000;
/** The same while a thread waits for the answer to its join, ms. */
export const DEAD_RESTORING_MS = 60_000;
/**
 * The same once its answer is there, ms. What comes behind it may be large, and a WebSocket shows nothing of a
 * frame before all of it has come: a slow line looks like a dead one.
 */
export const DEAD_DOWNLOADING_MS = 180_000;
/**
 * How many times as long these waits may become. Who gives up too early begins the same download again, so
 * each wait that was for nothing doubles the next one, until everything that was asked for has come.
 */
export const PATIENCE = 8;
/** Time from dialling to `welcome`, ms. */
export const WELCOME_MS = 15_000;
/** A connection that lived this long was a good one: the next wait is a short one again, ms. */
export const HEALTHY_MS = 10_000;
/** Attempts in a row that may end in 4401, or in a frame that cannot be read, before it is `refused`. */
export const REFUSALS = 4;
/** The longest wait a server's `retryAfterMs` can ask for, ms. */
const RETRY_AFTER_MAX_MS = 600_000;

const OPEN = 1;
const HEARTBEAT = 4003;
const UNAUTHORIZED = 4401;
const BAD_FRAME = 4402;
const VERSION = 4426;

/** The frame a connection begins with ([F3]): who this is, and which version it speaks. */
export type Hello = UpFrameOf<"hello">;

/**
 * What a connection is made of: where it dials and as whom, what measures time and chance, and whom it tells.
 */
export interface ConnectionOptions {
  /** @throws TypeError when there is no usable address */
  url(): string;
  /** Made anew for each attempt: the token may be another. */
  hello(): Promise<Hello>;
  WebSocket?: SocketConstructor | undefined;
  clock: Clock;
  random: () => number;
  backoff: Backoff;
  /** {@link DEAD_MS}, or one of the others when threads wait for something. */
  deadMs(): number;
  onWelcome(frame: DownFrameOf<"welcome">): void;
  /** Every frame but `welcome` and `bye`. */
  onFrame(frame: DownFrame): void;
  /** A binary frame: one of a document lane ([Y1]). */
  onBytes(bytes: Uint8Array): void;
  /** A connection that was live is gone. */
  onDown(): void;
  onState(state: ConnectionState): void;
}

/** One socket at a time, and the way back to it: dialling, heartbeat, backoff, what close codes ask for. */
export interface Connection {
  readonly state: ConnectionState;
  /** Connects, the first time it is called. */
  start(): void;
  /** Sends one frame; false when the connection is not live. */
  send(frame: string | Uint8Array<ArrayBuffer>): boolean;
  /** Leaves the present socket, if any, and dials at once: after `refused`, or with another identity. */
  restart(): void;
  /** The last word: no attempt follows. */
  close(): void;
}

/** Makes a {@link Connection}; nothing is dialled yet. */
export function createConnection(options: ConnectionOptions): Connection {
  const { clock, backoff, random } = options;
  const timer = createTimer(clock);
  let state: ConnectionState = { status: "connecting" };
  let socket: SocketLike | null = null;
  /** Grows with each attempt; what belongs to an older one is ignored. */
  let turn = 0;
  let started = false;
  let attempt = 0;
  let refusals = 0;
  let faults = 0;
  let liveSince = 0;
  let heardAt = 0;
  let pingedAt = 0;
  /** See {@link PATIENCE}. */
  let patience = 1;
  /** A sign of life is asked for and has not come. */
  let asking = false;
  /** The server asked to be left alone until then. */
  let notBefore = 0;
  let unwatch = () => {};

  const isLive = () => state.status === "live";

  const become = (next: ConnectionState) => {
    state = next;
    options.onState(next);
  };

  /**
   * Lets go of the socket; nothing it still says is heard.
   * @returns false when a listener that heard of it has closed or dialled meanwhile
   */
  const hangUp = (code = 0) => {
    const mine = ++turn;
    timer.clear();
    const old = socket;
    socket = null;
    // Applications may close with 1000 and 3000–4999 only.
    if (code >= 4000) old?.close(code);
    else old?.close();
    if (isLive()) {
      state = { status: "reconnecting" };
      options.onDown();
    }
    return mine === turn;
  };

  const refuse = (reason: string, close?: number) => {
    if (!hangUp(close)) return;
    become({
      status: "refused",
      reason,
      error: new CothreadError("refused", reason, false, close === undefined ? undefined : { close }),
    });
  };

  /** The socket is gone, or is given up. Decides by the close code whether and when to come back. */
  const down = (code: number, given: string, retryAfterMs?: number) => {
    if (isLive() && clock.now() - liveSince >= HEALTHY_MS) attempt = refusals = faults = 0;
    if (!hangUp(code)) return;
    const reason = given || "The connection was lost.";
    if (staysAway(code) || (code === UNAUTHORIZED && ++refusals >= REFUSALS)) return refuse(reason, code);
    const asked = Math.min(Math.max(Number(retryAfterMs) || 0, 0), RETRY_AFTER_MAX_MS);
    const wait = asked + backoffMs(backoff, attempt++, random);
    const now = clock.now();
    notBefore = now + asked;
    timer.set(wait, dial);
    become({ status: cutOff(), retryAt: now + wait, reason });
  };

  /** Gives up the socket because of what it delivered. */
  const fault = (reason: string) => {
    if (isLive() && clock.now() - liveSince >= HEALTHY_MS) faults = 0;
    down(++faults < REFUSALS ? 0 : BAD_FRAME, reason);
  };

  const ping = () => {
    if (asking) return;
    asking = true;
    pingedAt = clock.now();
    send('{"type":"ping","ref":"ping"}');
    heartbeat();
  };

  /** Looks after a while whether anything was heard; asks when not, and gives up when that helps nothing. */
  const heartbeat = () => {
    const since = clock.now() - (asking ? pingedAt : heardAt);
    const left = (asking ? options.deadMs() * patience : QUIET_MS) - since;
    if (left > 0) timer.set(left, heartbeat);
    else if (asking) {
      patience = Math.min(patience * 2, PATIENCE);
      down(HEARTBEAT, "The server has fallen silent.");
    } else ping();
  };

  const welcome = (frame: DownFrameOf<"welcome">) => {
    if (frame.v !== PROTOCOL) return down(VERSION, "Client and server speak different protocol versions.");
    liveSince = clock.now();
    heartbeat();
    become({ status: "live" });
    if (isLive()) options.onWelcome(frame);
  };

  const heard = (data: unknown) => {
    heardAt = clock.now();
    asking = false;
    try {
      if (typeof data !== "string") {
        if (isLive()) options.onBytes(new Uint8Array(data as ArrayBuffer));
        return;
      }
      const frame: DownFrame = JSON.parse(data);
      if (frame.type === "bye") down(frame.code, frame.reason, frame.retryAfterMs);
      else if (isLive()) {
        options.onFrame(frame);
        if (options.deadMs() === DEAD_MS) patience = 1;
      } else if (frame.type === "welcome") welcome(frame);
      else fault(frame.type === "reject" ? frame.message : "The server did not begin with a welcome.");
    } catch (error) {
      fault(`The server sent a frame that cannot be read: ${sentence(error)}.`);
    }
  };

  const dial = async () => {
    const mine = ++turn;
    asking = false;
    timer.set(WELCOME_MS, () => down(0, "The server did not answer in time."));
    if (state.status !== "connecting") become({ status: cutOff(), reason: state.reason });
    let hello: Hello;
    try {
      hello = await options.hello();
    } catch (error) {
      if (mine === turn) down(0, `The token could not be fetched: ${sentence(error)}`);
      return;
    }
    if (mine !== turn) return;
    try {
      const Socket = options.WebSocket ?? (environment().WebSocket as SocketConstructor | undefined);
      if (!Socket) throw new TypeError("There is no WebSocket here: give createClient a `WebSocket`.");
      const fresh = new Socket(options.url(), [SUBPROTOCOL]);
      socket = fresh;
      fresh.binaryType = "arraybuffer";
      // Whatever an older socket still says, the new one counts.
      const here = () => socket === fresh;
      fresh.onopen = () => here() && fresh.send(JSON.stringify(hello));
      fresh.onmessage = ({ data }: { data: unknown }) => here() && heard(data);
      fresh.onclose = ({ code, reason }: { code: number; reason: string }) => here() && down(code, reason);
      // A handler must be there: Node's sockets throw what nobody handles.
      fresh.onerror = () => {};
    } catch (error) {
      refuse(sentence(error));
    }
  };

  const send = (frame: string | Uint8Array<ArrayBuffer>) => {
    if (!isLive() || socket?.readyState !== OPEN) return false;
    socket.send(frame);
    return true;
  };

  /** The network is back, or somebody looks again. */
  const wake = () => {
    if (isLive()) ping();
    else if (state.retryAt !== undefined && clock.now() >= notBefore) dial();
  };

  const networkLost = () => {
    if (isLive()) ping();
    else if (state.status === "reconnecting") become({ ...state, status: "offline" });
  };

  const start = () => {
    if (started || state.status === "closed") return;
    started = true;
    unwatch = watchPage(wake, networkLost);
    dial();
  };

  return {
    get state() {
      return state;
    },
    start,
    send,
    restart() {
      if (state.status === "closed") return;
      attempt = refusals = faults = notBefore = 0;
      if (!hangUp()) return;
      if (!started) return start();
      state = { status: "reconnecting" };
      dial();
    },
    close() {
      hangUp();
      unwatch();
      become({ status: "closed", error: new CothreadError("closed", "The client was closed.") });
    },
  };
}

/**
 * Whether a close code says to stay away: `again: "no"` in the protocol's table CLOSES, which is 44xx but for
 * those that a new token or time mends. The table itself, with its sentences, would cost 400 bytes.
 */
export function staysAway(code: number): boolean {
  return code >= 4400 && code < 4500 && code !== UNAUTHORIZED && code !== 4410 && code !== 4429;
}

const cutOff = () => (environment().navigator?.onLine === false ? "offline" : "reconnecting");
const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));
