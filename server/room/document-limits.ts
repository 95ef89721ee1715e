/** What a thread's document may come to by what Yjs peers write ([Y9]). */
export type DocumentLimits = {
  /** Characters of the draft, in UTF-16 units; default 1 MiB. */
  draft: number;
  /** Bytes of all of it as one update; default 16 MiB. */
  bytes: number;
};

/** What documents are held to unless the server's options say otherwise. */
export const DOCUMENT_LIMITS: DocumentLimits = { draft: 1_048_576, bytes: 16_777_216 };
