/** Why a store could not be opened; what to do about it stands in the error's message. */
export type StoreOpenCode =
  /** The URL names no store that this version has. */
  | "bad_url"
  /** The running Node is too old. */
  | "node_version"
  /** The native SQLite addon cannot be loaded. */
  | "addon"
  /** The folder of the file does not exist. */
  | "no_directory"
  /** The file or its folder cannot be written. */
  | "read_only"
  /** Another server has the file open. */
  | "in_use"
  /** The file is not a SQLite database. */
  | "not_a_database"
  /** The file is a SQLite database, of another program. */
  | "foreign"
  /** The file is damaged. */
  | "corrupt"
  /** A newer version of Cothread wrote the file. */
  | "newer_schema"
  /** The schema could not be brought up to date. */
  | "migration"
  /** Anything else. */
  | "failed";

/** A store could not be opened. `message` is one or two sentences for the person who runs the server. */
export class StoreOpenError extends Error {
  override readonly name = "StoreOpenError";
  readonly code: StoreOpenCode;

  constructor(code: StoreOpenCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
