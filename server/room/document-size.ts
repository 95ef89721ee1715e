/** What may be added to a document as large as this before it is worth a look how large it is, as a part of it. */
const WORTH_A_LOOK = 1 / 64;

/**
 * Keeps an eye on the size of a document without encoding it for each update: the sum of its updates is more than what
 * they come to, so only when that is over the limit all of it is measured.
 */
export class DocumentSize {
  private bytes: number;
  private readonly measure: () => number;
  /** Bytes of updates since it was measured. */
  private added = Number.POSITIVE_INFINITY;
  private hasDeleted = false;

  /**
   * @param bytes of what is stored of it
   * @param measure gives how many it is as one update
   */
  constructor(bytes: number, measure: () => number) {
    this.bytes = bytes;
    this.measure = measure;
  }

  /** Takes note of updates that were merged. */
  grow(bytes: number): void {
    this.bytes += bytes;
    this.added += bytes;
  }

  /** Takes note that something is going to be deleted. */
  shrink(): void {
    this.hasDeleted = true;
  }

  /** Whether an update may be merged without the document coming to more than a limit. */
  admits(bytes: number, limit: number): boolean {
    if (this.bytes + bytes <= limit) return true;
    if (this.hasDeleted || this.added > limit * WORTH_A_LOOK) {
      this.bytes = this.measure();
      this.added = 0;
      this.hasDeleted = false;
    }
    return this.bytes + bytes <= limit;
  }
}
