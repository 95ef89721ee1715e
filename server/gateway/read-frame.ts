import { type CloseCode, NOT_YET, PROTOCOL, type RejectCode, UpFrame } from "../../shared/protocol/index.ts";
import { Rejection } from "../room/port.ts";
import { describeIssue, type SchemaIssue } from "../room/schema-issue.ts";

/** What came of the text of a frame: the frame, a refusal, or the end of the connection. */
export type ReadFrame =
  | { kind: "frame"; frame: UpFrame }
  | { kind: "reject"; ref?: string | number; rejection: Rejection }
  | { kind: "close"; code: CloseCode; reason: string };

/** Containers within containers a frame may have; what is deeper cannot be copied or printed safely. */
const DEPTH = 100;
/** Values a frame may have: reading 4 MB of zeros and brackets takes longer than everything else waits. */
const VALUES = 100_000;
/** Items of one list, or names of one map, that a schema looks at one by one. */
const ITEMS = 1_000;
/** Fields whose content no schema looks into. */
const OPEN = new Set(["forwardedProps", "data", "cursor"]);
const LONE_SURROGATE = /\p{Surrogate}/u;
/** The key that is dangerous to copy, plain or with an escape in it. */
const RESERVED = /__proto__|\\u00(5f|70|72|6f|74)/i;

/**
 * Reads the text of one up frame ([F1]–[F6]). Everything that costs more than the frame's bytes is refused
 * before it is begun: depth and number of values before parsing, lists before their items are looked at.
 * @param greeting whether this must be the `hello`; anything else ends the connection
 */
export function readFrame(text: string, greeting: boolean): ReadFrame {
  const shape = shapeOf(text);
  if (shape !== "fits") {
    const sentence = `The frame is not valid: it has ${shape}.`;
    return greeting ? close(4402, sentence) : refuse(refAhead(text), "bad_frame", sentence);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return close(4402, "The frame is not JSON.");
  }
  const { type, ref: given } = (raw ?? {}) as { type?: unknown; ref?: unknown };
  if (typeof type !== "string") return close(4402, "The frame has no type.");
  if (type === "hello" && !greeting) return close(4402, "Hello was said before.");
  if (type !== "hello" && greeting) return close(4402, "The first frame must be a hello.");
  if (greeting) return readHello(raw as Record<string, unknown>);
  const ref = usableRef(given);
  if (NOT_YET.has(type as UpFrame["type"]))
    return refuse(ref, "not_supported", `This server does not support "${type}" yet.`);
  const fault =
    RESERVED.test(text) && hasReservedKey(raw) ? "it has the key __proto__" : faultOf(raw as object);
  if (fault) return refuse(ref, "bad_frame", `The frame is not valid: ${type.slice(0, 40)}: ${fault}.`);
  const parsed = UpFrame.safeParse(raw);
  if (parsed.success) return { kind: "frame", frame: parsed.data };
  return refuse(ref, "bad_frame", `The frame is not valid: ${describe(type, parsed.error)}.`);
}

function readHello(raw: Record<string, unknown>): ReadFrame {
  // Looked at first: the hello of another version may have another shape.
  if (typeof raw.v === "number" && raw.v !== PROTOCOL)
    return close(4426, `This server speaks protocol version ${PROTOCOL}, the client ${raw.v}.`);
  const user = (raw.user ?? {}) as object;
  const fault = faultOf(raw) ?? faultOf(user);
  if (fault) return close(4402, `The hello is not valid: ${fault}.`);
  const parsed = UpFrame.safeParse(raw);
  if (parsed.success) return { kind: "frame", frame: parsed.data };
  return close(4402, `The hello is not valid: ${describeIssue(parsed.error.issues[0], "hello")}.`);
}

/** Looks over the text without parsing it. @returns what is wrong with its shape, or "fits" */
function shapeOf(text: string): string {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x22: // a string, which is passed over: it may be long, and what is in it does not count
        i = endOfString(text, i + 1);
        break;
      case 0x2c: // ,
        values += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > DEPTH) return `more than ${DEPTH} levels`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
    }
    if (values > VALUES) return `more than ${VALUES} values`;
  }
  return "fits";
}

/** @param from behind the opening quote @returns where the closing one is, or the end of the text */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

/** What a schema does not see, or sees at a price; `null` when there is nothing. */
function faultOf(fields: object): string | null {
  for (const [field, value] of Object.entries(fields)) {
    // An id with half a character in it cannot be told from others once it is stored.
    if (typeof value === "string" && LONE_SURROGATE.test(value))
      return `${field}: it has half of a surrogate pair`;
    if (OPEN.has(field) || typeof value !== "object" || value === null) continue;
    if ((Array.isArray(value) ? value : Object.keys(value)).length > ITEMS)
      return `${field}: it has more than ${ITEMS} items`;
  }
  return null;
}

function hasReservedKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasReservedKey);
}

/** A ref that can be sent back: what is no ref at all is left out, so that it is not taken for another. */
function usableRef(ref: unknown): string | number | undefined {
  if (typeof ref === "string" && ref.length <= 128) return ref;
  return typeof ref === "number" && Number.isFinite(ref) ? ref : undefined;
}

/** The ref of a frame that is not parsed, when it stands where clients put it. */
function refAhead(text: string): string | number | undefined {
  const found =
    /^\s*\{\s*(?:"type"\s*:\s*"[a-z]*"\s*,\s*)?"ref"\s*:\s*("[^"\\]{0,128}"|\d{1,15})\s*[,}]/.exec(
      text.slice(0, 300),
    );
  return found ? usableRef(JSON.parse(found[1] as string)) : undefined;
}

function describe(type: string, { issues }: { issues: SchemaIssue[] }): string {
  const name = type.slice(0, 40);
  if (issues[0]?.path[0] === "type") return `there is no frame "${name}"`;
  return `${name}: ${describeIssue(issues[0], "frame")}`;
}

function close(code: CloseCode, reason: string): ReadFrame {
  return { kind: "close", code, reason };
}

function refuse(ref: string | number | undefined, code: RejectCode, message: string): ReadFrame {
  return { kind: "reject", ...(ref !== undefined && { ref }), rejection: new Rejection(code, message) };
}
