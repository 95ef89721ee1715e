/**
 * The shared document of a thread as a Yjs document: the agent's state, the draft that people write together, and
 * their carets. Yjs comes with this module and with no other one.
 *
 * ```ts
 * const { state, draft, awareness } = openDoc(client.thread("launch"));
 * ```
 */
export { type DocOptions, openDoc, type ThreadDoc } from "./open-doc.ts";
export type { Persistence, PersistenceConstructor } from "./persistence.ts";
