import type { Entry } from "../../shared/protocol/index.ts";
import type { EncodedEntry } from "./store.ts";
import { StoreError } from "./store-error.ts";

/**
 * An entry from its stored text.
 *
 * @throws {StoreError} `corrupt`, naming the seq only: the parser's own message would quote the content
 */
export function parseEntry({ seq, json }: EncodedEntry): Entry {
  try {
    return JSON.parse(json) as Entry;
  } catch {
    throw new StoreError("corrupt", `Entry ${seq} of the thread cannot be read. Restore a backup.`);
  }
}
