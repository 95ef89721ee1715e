import type { Outbox } from "./outbox.ts";
import type { ServerSocket } from "./server-socket.ts";

/** Whether the other end of a socket is alive ([B4]). */
export class Pulse {
  private readonly socket: ServerSocket;
  private readonly outbox: Outbox;
  private missed = 0;

  constructor(socket: ServerSocket, outbox: Outbox) {
    this.socket = socket;
    this.outbox = outbox;
  }

  /** It has answered. */
  pong(): void {
    this.missed = 0;
  }

  /** Asks for a sign of life; called now and then. @returns false when two were left unanswered: it was cut */
  beat(): boolean {
    // A ping arrives behind what was sent before it: who still reads that is alive.
    if (this.outbox.takes()) this.missed = 0;
    if (this.missed >= 2) {
      // The peer will not answer a close frame either.
      this.socket.terminate();
      return false;
    }
    this.missed += 1;
    this.socket.ping();
    return true;
  }
}
