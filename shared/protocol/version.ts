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
  { v: 1, hash: "f271d084321d02bf1934e50b73c5e83d48260ccc4b941952709d46d460053d6c", what: "first version" },
] as const satisfies readonly {
  v: number;
  hash: string;
  what: string;
}[];
