import { MessageSchema } from "@ag-ui/core/schemas";
import { byteSize } from "../../shared/byte-size.ts";
import { Id, Mentions, type Message } from "../../shared/protocol/index.ts";
import { isStorableId } from "../run/storable-id.ts";
import { renamed } from "../run/unify-encrypted.ts";
import { Rejection } from "./port.ts";
import { describeIssue } from "./schema-issue.ts";

type Part = Record<string, unknown>;

/**
 * Checks messages a person submits and puts the server's stamp on them ([S2], [S3]): `name`,
 * `metadata.cothread.user` and `metadata.cothread.note` are the server's, whatever the client wrote there.
 * @param messages as they came
 * @param user who submits
 * @param isNote they start nothing
 * @param maxBytes per message, as JSON
 * Whom a message mentions is checked, and stays as it is ([S6]).
 * @throws Rejection bad_message naming the message and what is wrong; too_big
 */
export function stampMessages(
  messages: readonly unknown[],
  user: { id: string; name: string },
  isNote: boolean,
  maxBytes: number,
): Message[] {
  const stamp = { user, ...(isNote && { note: true }) };
  return messages.map((message, i) => {
    const parsed = MessageSchema.safeParse(upgraded(renamed(message)));
    if (!parsed.success) throw bad(i, describeIssue(parsed.error.issues[0], "message"));
    const given = parsed.data;
    if (given.role !== "user") throw bad(i, `role must be "user", not "${given.role}"`);
    if (!Id.safeParse(given.id).success || !isStorableId(given.id))
      throw bad(i, "id must be 1 to 256 whole characters without control characters");
    const { id, content, encryptedValue, metadata } = given;
    const said = own(metadata?.cothread);
    const mentions = Mentions.optional().safeParse(said.mentions);
    if (!mentions.success) throw bad(i, `its mentions: ${describeIssue(mentions.error.issues[0], "list")}`);
    const stamped: Message = {
      id,
      role: "user",
      content,
      name: user.name,
      ...(encryptedValue !== undefined && { encryptedValue }),
      metadata: { ...metadata, cothread: { ...said, ...stamp } },
    };
    if (Buffer.byteLength(JSON.stringify(stamped)) > maxBytes)
      throw new Rejection("too_big", `Message ${i + 1} is over the limit of ${byteSize(maxBytes)}.`, {
        limit: maxBytes,
      });
    return stamped;
  });
}

/** What a client wrote beside the server's own. */
function own(value: unknown): { mentions?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const { note: _, ...rest } = value as { note?: unknown; mentions?: unknown };
  return rest;
}

function bad(index: number, what: string): Rejection {
  return new Rejection("bad_message", `Message ${index + 1} is not valid: ${what}.`);
}

/** Legacy `binary` content parts become the media part of their type (AGUI-RULES: names differ). */
function upgraded(message: unknown): unknown {
  const content = (message as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return message;
  return {
    ...(message as object),
    content: content.map((part: Part) => (part?.type === "binary" ? media(part) : part)),
  };
}

function media({ mimeType, data, url, id, filename }: Part): Part {
  const kind = String(mimeType).split("/")[0] ?? "";
  const source =
    data !== undefined
      ? { type: "data", value: data, mimeType }
      : url !== undefined
        ? { type: "url", value: url, mimeType }
        : { type: "file", value: id, mimeType };
  return {
    type: ["image", "audio", "video"].includes(kind) ? kind : "document",
    source,
    ...(filename !== undefined && { metadata: { filename } }),
  };
}
