/** Version of the wire protocol, sent in `hello.v` and `welcome.v`; the WebSocket subprotocol is `cothread.v1`. */
export const PROTOCOL = 1;
/** WebSocket subprotocol name of {@link PROTOCOL}. */
export const SUBPROTOCOL = "cothread.v1";

/**
 * Every version there has been, oldest first. `hash` is the sha-256, in hex, of the schemas of frames,
 * entries and acks and of the codes, as `test/rules/protocol-hash.test.ts` makes it; `what` says what the version
 * changed. A line of a released version stays as it is.
 */
export const VERSIONS = [
  { v: 1, hash: "0467a4c16bd22abfc24fcb8b266e1f5794c4285a8a373b00567823699972df49", what: "first version" },
] as const satisfies readonly {
  v: number;
  hash: string;
  what: string;
}[];
