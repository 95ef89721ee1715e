/** An id nobody else makes. Works in pages without https too, unlike `randomUUID`. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");
}
