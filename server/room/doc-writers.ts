/**
 * Which people write in the document under which Yjs client ids, for as long as they are here ([Y6]). Two people who
 * both write under one id would end with documents that differ for ever, and Yjs would tell nobody.
 */
export class DocWriters {
  private readonly byId = new Map<number, { user: string; connections: Set<string> }>();

  /** The first of some ids that somebody else who is here writes under; `undefined` when all are free. */
  taken(ids: readonly number[], user: string): number | undefined {
    return ids.find((id) => {
      const writer = this.byId.get(id);
      return writer !== undefined && writer.user !== user;
    });
  }

  /** A connection of somebody has written under some ids. */
  wrote(ids: readonly number[], user: string, connection: string): void {
    for (const id of ids) {
      const writer = this.byId.get(id);
      if (writer) writer.connections.add(connection);
      else this.byId.set(id, { user, connections: new Set([connection]) });
    }
  }

  /** A connection has gone, and its ids with it. */
  left(connection: string): void {
    for (const [id, { connections }] of this.byId)
      if (connections.delete(connection) && connections.size === 0) this.byId.delete(id);
  }
}
