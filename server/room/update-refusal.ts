/** Why an update of a peer is not applied; each kind has one way for the peer to go on. */
export type RefusalKind =
  | "malformed"
  | "too_big"
  | "not_json"
  | "bad_key"
  | "too_deep"
  | "too_costly"
  | "reserved_id"
  | "missing";

/** Ends a check at the first fault; never leaves it. */
export class UpdateRefusal extends Error {
  readonly kind: RefusalKind;

  /** @param reason one sentence a person can act on, without content of the update */
  constructor(kind: RefusalKind, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** Refuses bytes that are no update Yjs could have written. */
export function malformed(what: string): UpdateRefusal {
  return new UpdateRefusal("malformed", `This is not a Yjs update in encoding v1: ${what}.`);
}
