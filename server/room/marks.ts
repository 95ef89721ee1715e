import { randomBytes } from "node:crypto";

/** A random id of 72 bits: of a log, or of the marks of one load of a room. */
export function randomId(): string {
  return randomBytes(9).toString("base64url");
}

/** Marks of commits ([C1]): unique per load of a room and commit. */
export class Marks {
  // Random bytes for each commit would cost more than the commit's row.
  private readonly prefix = randomId();
  private count = 0;

  next(): string {
    this.count += 1;
    return `${this.prefix}${this.count.toString(36)}`;
  }
}
