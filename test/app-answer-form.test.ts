import { describe, expect, test } from "vitest";
import { firstValues, formOf, payloadOf } from "../client/app/answer-form.ts";
import type { InterruptInfo, Json } from "../client/react/index.ts";

const asked = (responseSchema?: object, more: object = {}) =>
  ({
    id: "i",
    reason: "approve",
    runId: "r",
    agent: "a",
    ...(responseSchema && { responseSchema }),
    ...more,
  }) as InterruptInfo;

const INVITATION = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    subject: { type: "string", description: "What they read first" },
    seats: { type: "integer" },
    sendAt: { type: "string", title: "When" },
    tone: { enum: ["formal", "warm"] },
    notify: { type: "boolean", default: true },
    list: { type: "array" },
  },
  required: ["approved", "subject", "list"],
};

describe("a form", () => {
  test("is made of the schema, and begins with the arguments of the call it is about", () => {
    const form = formOf(asked(INVITATION, { toolCallId: "c" }), {
      subject: "You are invited",
      seats: 5,
      tone: "warm",
    });
    expect(form.approval).toBe("approved");
    expect(form.fields).toEqual([
      {
        name: "subject",
        label: "Subject",
        help: "What they read first",
        required: true,
        kind: "line",
        first: "You are invited",
      },
      { name: "seats", label: "Seats", required: false, kind: "number", first: "5" },
      { name: "sendAt", label: "When", required: false, kind: "line", first: "" },
      { name: "tone", label: "Tone", required: false, kind: "list", choices: ["formal", "warm"], first: "1" },
      { name: "notify", label: "Notify", required: false, kind: "yes", first: true },
      { name: "list", label: "List", required: true, kind: "json", first: "" },
    ]);
    const values = { ...firstValues(form), seats: "7", list: "[1]" };
    expect(payloadOf(form, values, true)).toEqual({
      payload: {
        approved: true,
        subject: "You are invited",
        seats: 7,
        tone: "warm",
        notify: true,
        list: [1],
      },
    });
  });

  test("says which field cannot be read; whoever says no need not fill in the rest", () => {
    const form = formOf(asked(INVITATION), undefined);
    const values = firstValues(form);
    expect(payloadOf(form, values, true)).toEqual({ field: "subject", why: "empty" });
    const some = { ...values, subject: "Hi" };
    expect(payloadOf(form, { ...some, seats: "many" }, true)).toEqual({ field: "seats", why: "number" });
    expect(payloadOf(form, { ...some, list: "[" }, true)).toEqual({ field: "list", why: "json" });
    expect(payloadOf(form, values, false)).toEqual({ payload: { approved: false, notify: true } });
  });

  test.each<[string, object | undefined, object, [string, string | boolean][], Json]>([
    ["a call without a schema", undefined, { toolCallId: "c" }, [], { approved: true }],
    ["a yes or no", { type: "boolean" }, {}, [], true],
    ["a question without a schema", undefined, {}, [["", "On Monday"]], "On Monday"],
    ["one that is answered by saying so", undefined, {}, [["", ""]], true],
    ["one of a list", { enum: [{ n: 1 }, { n: 2 }] }, {}, [["", "1"]], { n: 2 }],
    ["a number", { type: "number" }, {}, [["", "2.5"]], 2.5],
    ["anything", {}, {}, [["", '{"a":1}']], { a: 1 }],
  ])("for %s", (_what, schema, more, written, payload) => {
    const form = formOf(asked(schema, more), undefined);
    expect(payloadOf(form, { ...firstValues(form), ...Object.fromEntries(written) }, true)).toEqual({
      payload,
    });
  });

  test("a member for all of the arguments begins with all of them, and long text gets several lines", () => {
    const schema = {
      type: "object",
      properties: { editedArgs: { type: "object" }, body: { type: "string", default: "a\nb" } },
    };
    const form = formOf(asked(schema), { to: "all" });
    expect(form.fields).toMatchObject([
      { kind: "json", first: '{\n  "to": "all"\n}', label: "Edited args" },
      { kind: "lines", first: "a\nb" },
    ]);
  });
});
