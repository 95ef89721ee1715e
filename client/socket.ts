/**
 * The part of a WebSocket that the client uses: a browser's, the one of the package `ws`, or a test's.
 * Handlers are typed so that all of these fit.
 */
export interface SocketLike {
  readonly readyState: number;
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** Makes a {@link SocketLike}: `globalThis.WebSocket`, or `WebSocket` of the package `ws`. */
export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

/**
 * The address of a server's WebSocket.
 * @param url http(s):// or ws(s)://, with the server's base path if it has one
 * @throws TypeError when it is none of these
 */
export function socketUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^(http|ws)s?:$/.test(parsed.protocol))
    throw new TypeError(`"${url}" is not the address of a server: give \`url\` as https://host/path`);
  return `${parsed.protocol.replace("http", "ws")}//${parsed.host}${parsed.pathname.replace(/\/+$/, "")}/v1/ws`;
}
