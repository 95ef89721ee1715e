import { Ajv, type AnySchema, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** Characters of JSON a schema may have: compiling one takes time. */
const LONGEST = 65_536;

const options = { strict: false, validateFormats: true, allErrors: false, logger: false } as const;

/** What is wrong with a value, by a JSON Schema that an agent gave. */
export type SchemaVerdict =
  | { kind: "fits" }
  /** `where` is a pointer into the value, "" for all of it. */
  | { kind: "unfit"; where: string; why: string }
  /** The schema itself is of no use; nobody can be held to it. */
  | { kind: "unusable"; why: string };

/**
 * Holds a value against the JSON Schema of an agent (2020-12, or draft-07 where it says so).
 * @param schema as it came; it may be anything
 */
export function checkAgainst(schema: unknown, value: unknown): SchemaVerdict {
  if (typeof schema !== "object" || schema === null) return { kind: "fits" };
  if (JSON.stringify(schema).length > LONGEST) return { kind: "unusable", why: "it is too long" };
  const { $schema } = schema as { $schema?: unknown };
  const isOld = typeof $schema === "string" && /draft-0[67]/.test($schema);
  // A fresh one for each: agents use the same $id for different schemas.
  const ajv = isOld ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  let validate: ReturnType<Ajv["compile"]>;
  try {
    validate = ajv.compile(isOld ? (schema as AnySchema) : withoutDialect(schema));
  } catch (error) {
    return { kind: "unusable", why: error instanceof Error ? error.message : String(error) };
  }
  if (validate(value)) return { kind: "fits" };
  const [fault] = validate.errors as [ErrorObject];
  return { kind: "unfit", where: fault.instancePath, why: describe(fault) };
}

/** A dialect that is not known is read as the current one, instead of not at all. */
function withoutDialect(schema: object): AnySchema {
  const { $schema: _, ...rest } = schema as Record<string, unknown>;
  return rest;
}

function describe({ keyword, message = "is not valid", params }: ErrorObject): string {
  if (keyword === "enum")
    return `must be one of ${(params.allowedValues as unknown[]).map(String).join(", ")}`;
  if (keyword === "const") return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === "additionalProperties") return `must not have "${params.additionalProperty}"`;
  return message;
}
