import type { InterruptInfo, Json } from "../react/index.ts";

/** A field of an answer, as it is asked for. */
export type AnswerField = {
  /** Its name in the payload; "" when the payload is the value itself. */
  name: string;
  label: string;
  help?: string;
  required: boolean;
  /** How it is written: `list` is one of `choices`, `json` is anything, as text. */
  kind: "line" | "lines" | "number" | "yes" | "list" | "json";
  choices?: readonly Json[];
  /** What stands in it at first, as the field has it: text, or whether it is ticked. */
  first: string | boolean;
};

/** What is asked: the fields, and where yes and no go. */
export type AnswerForm = {
  fields: readonly AnswerField[];
  /** Whether yes or no is part of the answer: as its member of this name, "" when it is all of it. */
  approval: string | undefined;
};

/** What stands in the fields, by name. */
export type AnswerValues = Readonly<Record<string, string | boolean>>;

type Schema = {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  enum?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: unknown;
  format?: unknown;
  maxLength?: unknown;
};

const APPROVAL = "approved";
/** Text longer than this, or said to become so, gets several lines. */
const LINE = 80;

/**
 * The form for an answer, made from the question's JSON Schema.
 * @param args arguments of the tool call it is about, where it is about one: they can be changed before they are approved
 */
export function formOf(interrupt: InterruptInfo, args: Json | undefined): AnswerForm {
  const schema = interrupt.responseSchema as Schema | undefined;
  if (schema === undefined) {
    // What says nothing about its answer, but is about a call, wants to know whether it may.
    if (interrupt.toolCallId !== undefined) return { fields: [], approval: APPROVAL };
    return { fields: [fieldOf("", { type: "string" }, false, undefined)], approval: undefined };
  }
  if (schema.type === "boolean") return { fields: [], approval: "" };
  if (schema.type !== "object" || !schema.properties)
    return { fields: [fieldOf("", schema, true, schema.default as Json | undefined)], approval: undefined };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const known = isObject(args) ? args : {};
  const fields = Object.entries(schema.properties)
    .filter(([name, property]) => !(name === APPROVAL && property.type === "boolean"))
    .map(([name, property]) => {
      // A member that stands for all of the arguments begins with all of them.
      const isAll = property.type === "object" && /arg/i.test(name) && !(name in known);
      const first = (property.default as Json | undefined) ?? known[name] ?? (isAll ? args : undefined);
      return fieldOf(name, property, required.includes(name), first);
    });
  const asksApproval = schema.properties[APPROVAL]?.type === "boolean";
  return { fields, approval: asksApproval ? APPROVAL : undefined };
}

/** What stands in the fields at first. */
export function firstValues({ fields }: AnswerForm): AnswerValues {
  return Object.fromEntries(fields.map(({ name, first }) => [name, first]));
}

/**
 * The payload that a form amounts to.
 * @param approved yes or no, where that is part of it
 * @returns the payload, or the field that cannot be read, and why
 */
export function payloadOf(
  { fields, approval }: AnswerForm,
  values: AnswerValues,
  approved: boolean,
): { payload: Json } | { field: string; why: "empty" | "number" | "json" } {
  if (approval === "") return { payload: approved };
  const members: Record<string, Json> = approval === undefined ? {} : { [approval]: approved };
  for (const field of fields) {
    const read = readField(field, values[field.name] ?? "");
    if (typeof read === "string") {
      // Whoever says no need not fill in the rest.
      if (approval !== undefined && !approved) continue;
      return { field: field.name, why: read };
    }
    if (read.value === undefined) continue;
    if (field.name === "") return { payload: read.value };
    members[field.name] = read.value;
  }
  // Nothing was written where nothing had to be: that it was answered is the answer.
  return { payload: fields[0]?.name === "" ? true : members };
}

function fieldOf(name: string, schema: Schema, required: boolean, first: Json | undefined): AnswerField {
  const { title, description } = schema;
  const label = typeof title === "string" ? title : labelOf(name);
  const common = { name, label, required, ...(typeof description === "string" && { help: description }) };
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum as Json[];
    const at = choices.findIndex((choice) => same(choice, first));
    return { ...common, kind: "list", choices, first: at < 0 ? "" : String(at) };
  }
  if (schema.type === "boolean") return { ...common, kind: "yes", first: first === true };
  if (schema.type === "number" || schema.type === "integer")
    return { ...common, kind: "number", first: typeof first === "number" ? String(first) : "" };
  if (schema.type === "string") {
    const text = typeof first === "string" ? first : "";
    const isLong = text.length > LINE || text.includes("\n") || Number(schema.maxLength) > 3 * LINE;
    return { ...common, kind: isLong ? "lines" : "line", first: text };
  }
  return { ...common, kind: "json", first: first === undefined ? "" : JSON.stringify(first, null, 2) };
}

function readField(
  { kind, required, choices = [] }: AnswerField,
  value: string | boolean,
): { value: Json | undefined } | "empty" | "number" | "json" {
  if (kind === "yes") return { value: value === true };
  const text = String(value);
  if (text.trim() === "") return required ? "empty" : { value: undefined };
  switch (kind) {
    case "number": {
      const number = Number(text);
      return Number.isFinite(number) ? { value: number } : "number";
    }
    case "list":
      return { value: choices[Number(text)] };
    case "json":
      try {
        return { value: JSON.parse(text) as Json };
      } catch {
        return "json";
      }
    default:
      return { value: text };
  }
}

/** A name for people: `sendAt` → `Send at`. */
export function labelOf(name: string): string {
  const spaced = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase()
    .trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const isObject = (value: Json | undefined): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const same = (a: Json, b: Json | undefined) => JSON.stringify(a) === JSON.stringify(b);
