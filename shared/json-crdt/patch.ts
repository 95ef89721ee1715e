import type { Json, JsonPatch, JsonPatchOperation } from "../protocol/agui.ts";
import { isReservedKey, PointerError, parseIndex, parsePointer } from "./pointer.ts";

/** What the `copy` operations of one patch may add to a document, in characters of JSON. */
export const COPY_LIMIT = 10_485_760;

/** A patch that does not apply. The document it was meant for is as it was. */
export class PatchError extends Error {
  override name = "PatchError";
  /** Index of the operation that failed. */
  readonly index: number;
  constructor(message: string, index: number, cause?: unknown) {
    super(message, { cause });
    this.index = index;
  }
}

/**
 * Applies an RFC 6902 patch to an immutable JSON value: all of it or nothing.
 *
 * Stricter than the RFC in two points: `__proto__`, `constructor` and `prototype` are refused as keys, in
 * paths and in values; and the copies of one patch may add {@link COPY_LIMIT}, because a few of them can
 * double a document thirty times over.
 *
 * @param document any JSON value; never changed
 * @param patch the operations in order
 * @returns the new value; unchanged parts are the same objects as in `document`
 * @throws PatchError naming the operation that did not apply
 */
export function applyPatch(document: unknown, patch: JsonPatch): Json {
  let value = document as Json;
  const budget = { left: COPY_LIMIT };
  patch.forEach((operation, index) => {
    try {
      value = applyOperation(value, operation, budget);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const { op, path } = operation ?? {};
      throw new PatchError(`operation ${index} (${op} ${path}): ${reason}`, index, error);
    }
  });
  return value;
}

type Budget = { left: number };

function applyOperation(document: Json, operation: JsonPatchOperation, budget: Budget): Json {
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case "add":
      return add(document, path, given(operation));
    case "remove":
      return remove(document, path);
    case "replace":
      return replace(document, path, given(operation));
    case "move": {
      const from = parsePointer(source(operation));
      if (path.length > from.length && from.every((token, i) => token === path[i]))
        throw new PointerError("a value cannot be moved into itself");
      const value = read(document, from);
      if (path.length === from.length && from.every((token, i) => token === path[i])) return document;
      return add(remove(document, from), path, value);
    }
    case "copy": {
      const value = read(document, parsePointer(source(operation)));
      spend(value, budget);
      return add(document, path, value);
    }
    case "test":
      if (!jsonEqual(read(document, path), operand(operation)))
        throw new PointerError("the value is another one");
      return document;
    default:
      throw new PointerError(`"${(operation as { op: string }).op}" is not an operation`);
  }
}

function operand(operation: JsonPatchOperation): Json {
  if (operation.value === undefined) throw new PointerError("it has no value");
  return operation.value as Json;
}

/** The operand of an operation that puts it into the document. */
function given(operation: JsonPatchOperation): Json {
  const value = operand(operation);
  refuseReserved(value);
  return value;
}

function refuseReserved(value: Json): void {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) {
    const reserved = Object.keys(value).find(isReservedKey);
    if (reserved !== undefined) throw new PointerError(`its value has the reserved key "${reserved}"`);
  }
  for (const inner of Object.values(value)) refuseReserved(inner);
}

/** Takes the size of a copied value off the budget, and stops counting where that is used up. */
function spend(value: Json, budget: Budget): void {
  if (value === null || typeof value !== "object") {
    budget.left -= typeof value === "string" ? value.length + 2 : 5;
  } else {
    budget.left -= 2;
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) budget.left -= key.length + 3;
      spend(inner, budget);
    }
  }
  if (budget.left < 0) throw new PointerError(`copies add more than ${COPY_LIMIT} characters`);
}

function source(operation: JsonPatchOperation): string {
  if (operation.from === undefined) throw new PointerError('it has no "from"');
  return operation.from;
}

function read(document: Json, path: string[]): Json {
  let value = document;
  for (const token of path) value = child(value, token);
  return value;
}

function child(value: Json, token: string): Json {
  if (Array.isArray(value)) {
    const index = parseIndex(token, value.length);
    if (index >= value.length) throw new PointerError(`index ${token} is behind the end`);
    return value[index] as Json;
  }
  if (value !== null && typeof value === "object" && Object.hasOwn(value, token)) return value[token] as Json;
  throw new PointerError(`there is no "${token}"`);
}

/** Rebuilds the containers along `path`; `change` gives the new last container. */
function along(
  document: Json,
  path: string[],
  change: (container: Json[] | { [key: string]: Json }, token: string) => Json,
): Json {
  const [token, ...rest] = path as [string, ...string[]];
  if (document === null || typeof document !== "object") throw new PointerError(`there is no "${token}"`);
  if (rest.length === 0) return change(document, token);
  const inner = along(child(document, token), rest, change);
  if (Array.isArray(document)) return document.with(parseIndex(token, document.length), inner);
  return { ...document, [token]: inner };
}

function add(document: Json, path: string[], value: Json): Json {
  if (path.length === 0) return value;
  return along(document, path, (container, token) => {
    if (!Array.isArray(container)) return { ...container, [token]: value };
    const index = parseIndex(token, container.length);
    if (index > container.length) throw new PointerError(`index ${token} is behind the end`);
    return container.toSpliced(index, 0, value);
  });
}

function remove(document: Json, path: string[]): Json {
  // The RFC leaves open what stands in place of a removed document; AG-UI clients put null.
  if (path.length === 0) return null;
  return along(document, path, (container, token) => {
    child(container, token);
    if (Array.isArray(container)) return container.toSpliced(parseIndex(token, container.length), 1);
    const { [token]: _gone, ...rest } = container;
    return rest;
  });
}

function replace(document: Json, path: string[], value: Json): Json {
  if (path.length === 0) return value;
  return along(document, path, (container, token) => {
    child(container, token);
    if (Array.isArray(container)) return container.with(parseIndex(token, container.length), value);
    return { ...container, [token]: value };
  });
}

/** Equality of two JSON values; the order of keys does not count. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => jsonEqual(item, b[i]))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        jsonEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}
