/** What the gateway needs of a WebSocket; `ws` has it, and so has the pair that tests use. */
export interface ServerSocket {
  /** Bytes accepted by `send` and not yet handed to the network. */
  readonly bufferedAmount: number;
  /** Bytes accepted and held back until the reader takes what went before; not in `bufferedAmount`. */
  readonly heldBytes?: number;
  /** Sends one frame: text, whichever form it has. */
  send(data: string | Uint8Array): void;
  /** Sends one binary frame. */
  sendBinary(data: Uint8Array): void;
  /**
   * Sends a frame that has its WebSocket header already; absent where there is no wire.
   * @param frame the same without the header, for when it has to wait
   * @param binary whether it is a binary frame; else text
   */
  sendFramed?(framed: Uint8Array, frame: Uint8Array, binary: boolean): void;
  close(code: number, reason: string): void;
  /** Cuts the connection without a close frame. */
  terminate(): void;
  ping(): void;
}
