/** Whether an address or host name is this machine's own loopback. Ports and brackets are not expected. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^::ffff:/, "");
  return plain === "localhost" || plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** The name or address in a Host header, without port and brackets; empty when there is none. */
export function hostName(host = ""): string {
  return host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
}

/** Whether an address leads to this machine's own loopback; false for what is no address, such as `null`. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopback(hostName(new URL(url).host));
}
