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
  { v: 1, hash: "0ecb6f9bb6e640d7ab9ba291c800f2de342113f2d0a3929a4e355021626fe242", what: "first version" },
] as const satisfies readonly {
  v: number;
  hash: string;
  what: string;
}[];
