import { z } from "zod";
import { parsePointer } from "../shared/json-crdt/pointer.ts";
import { nearest } from "./nearest.ts";
import { DOCUMENT_LIMITS } from "./room/document-limits.ts";

/** Longest time an option may name, ms; timers end at 24.8 days. */
const DAY = 86_400_000;

/**
 * A whole number, as JSON has it or as somebody typed it. Not coerced: an empty text or `null` would be 0, and
 * a port of 0 is something else than none.
 */
function whole(min: number, max: number) {
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^-?\d+$/)
          .transform(Number),
      ],
      { error: "it must be a whole number" },
    )
    .pipe(
      z
        .number()
        .int("it must be a whole number")
        .min(min, `it must be ${min} or more`)
        .max(max, `it must be ${max} or less`),
    );
}

const HOST = "it must be an address such as 127.0.0.1";
const SWITCH = "it must be true or false";
const BASE_PATH = 'it must be empty, or begin with "/" and not end with one';
const ORIGIN = "it must be an origin such as https://app.example.com, without a path, or *";
const AGENT = 'it must look like NAME=http://host/path, in a file also {"NAME": "http://host/path"}';

const TEXT = "it must be a JSON Pointer such as /document or /sections/*/body";

function isPointer(text: string): boolean {
  try {
    return parsePointer(text).length > 0;
  } catch {
    return false;
  }
}

/** What is wrong with NAME=URL, or nothing. */
function wrongAgent(item: string): string | undefined {
  const at = item.indexOf("=");
  const [name, url] = [item.slice(0, at), item.slice(at + 1)];
  if (at < 1 || !/^https?:\/\/\S*$/.test(url)) return AGENT;
  if (/\s/.test(name)) return "the name of an agent must be without spaces";
  if (name.length > 256) return "the name of an agent must have at most 256 characters";
  // JavaScript puts such keys before all others, and the first agent is the default.
  if (/^\d+$/.test(name)) return "the name of an agent must not be a number";
  return URL.canParse(url) ? undefined : "it has a URL that is not one";
}

/**
 * Every option of a server that flags, `COTHREAD_*` variables and a configuration file can set: one schema
 * for all three. `meta` carries what `--help` prints: what it is, its unit, and why one would change it.
 */
export const Config = z.strictObject({
  port: whole(0, 65_535).default(4000).meta({ what: "TCP port; 0 takes a free one" }),
  host: z
    .string({ error: HOST })
    .min(1, HOST)
    .default("127.0.0.1")
    .meta({ what: "address to listen on; 0.0.0.0 for every network" }),
  store: z
    .string({ error: "it must be sqlite:FILE or memory:" })
    .default("sqlite:cothread.db")
    .meta({ what: "where threads are kept: sqlite:FILE, or memory: for a server that forgets" }),
  synchronous: z
    .enum(["normal", "full"], { error: "it must be normal or full" })
    .default("normal")
    .meta({ what: "full also survives a power cut, and makes every commit wait for the disk" }),
  agent: z
    .array(
      z
        .string({ error: AGENT })
        .trim()
        .superRefine((item, context) => {
          const message = wrongAgent(item);
          if (message) context.addIssue({ code: "custom", message });
        }),
      { error: AGENT },
    )
    .superRefine((list, context) => {
      const names = list.map((item) => item.slice(0, item.indexOf("=")));
      const twice = names.find((name, i) => names.indexOf(name) < i);
      if (twice === undefined) return;
      context.addIssue({ code: "custom", message: `two agents have one name, ${shown(twice)}` });
    })
    .default([])
    .meta({ what: "NAME=URL of an AG-UI agent; may be given several times, the first is the default" }),
  share: z
    .boolean({ error: SWITCH })
    .default(false)
    .meta({ what: "let people on the local network in who have the join code this prints" }),
  insecure: z
    .boolean({ error: SWITCH })
    .default(false)
    .meta({ what: "listen beyond this machine although nobody has to sign in" }),
  basePath: z
    .string({ error: BASE_PATH })
    .regex(/^(\/[^/?#\s]+)*$/, BASE_PATH)
    .default("")
    .meta({ what: "path before all of the server's own, as a proxy passes it on" }),
  publicUrl: z
    .url({ protocol: /^https?$/, error: "it must be an http or https address" })
    .optional()
    .meta({
      what: "address at which people reach the server when a proxy is in front; needs share or insecure unless code signs people in",
    }),
  cors: z
    .array(
      z
        .string({ error: ORIGIN })
        .trim()
        .refine(
          (origin) => origin === "*" || (URL.canParse(origin) && new URL(origin).origin === origin),
          ORIGIN,
        ),
      { error: 'it must be a list of origins, such as ["https://app.example.com"]' },
    )
    .default([])
    .meta({ what: "origins of other web pages that may connect, e.g. https://app.example.com" }),
  text: z
    .array(z.string({ error: TEXT }).trim().refine(isPointer, TEXT), { error: TEXT })
    .default(["/document"])
    .meta({
      what: "pointers to strings of the state that people edit as text, e.g. /document or /sections/*/body",
    }),
  draftSize: whole(1_000, 10_485_760)
    .default(DOCUMENT_LIMITS.draft)
    .meta({ what: "characters the draft that people write together may have" }),
  documentSize: whole(65_536, 1_073_741_824)
    .default(DOCUMENT_LIMITS.bytes)
    .meta({ what: "bytes a thread's Yjs document may have, with draft and roots of applications" }),
  hidePeople: z
    .boolean({ error: SWITCH })
    .default(false)
    .meta({ what: "do not tell agents the names and ids of the people in a conversation" }),
  demo: z.boolean({ error: SWITCH }).default(false).meta({
    what: "a thread to play in, with a page of two people side by side; keeps nothing unless --store says so",
  }),
  demoSpeed: z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^-?\d+(\.\d+)?$/)
          .transform(Number),
      ],
      { error: "it must be a number" },
    )
    .pipe(z.number().min(0, "it must be 0 or more").max(1_000, "it must be 1000 or less"))
    .default(1)
    .meta({ what: "pace of the demo agent: 1 like a model, 0 without any waiting" }),
  demoSeed: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    .default(1)
    .meta({ what: "what the demo agent's choices are drawn from" }),
  drainMs: whole(0, DAY)
    .default(5_000)
    .meta({ what: "ms that running agents get to finish when the server is stopped" }),
  roomIdleMs: whole(0, DAY).default(60_000).meta({ what: "ms a thread that nobody uses stays in memory" }),
  logLevel: z
    .enum(["silent", "error", "warn", "info", "debug"], {
      error: "it must be silent, error, warn, info or debug",
    })
    .default("info")
    .meta({ what: "how much is logged; never messages or secrets" }),
});
export type Config = z.infer<typeof Config>;

/** Options that are wrong: a line for each, with its name. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Checks options from wherever they came.
 * @param given option name → value; `agent` may also be an object, name → URL
 * @param named how an option is called where the person wrote it, for the sentence
 * @throws ConfigError naming every option that is wrong
 */
export function parseConfig(
  given: Record<string, unknown>,
  named: (option: string, like?: string) => string = (option) => option,
): Config {
  const options = { ...given, ...(isObject(given.agent) && { agent: listed(given.agent) }) };
  const parsed = Config.safeParse(options);
  if (parsed.success) return parsed.data;
  const said = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    if (issue.code === "unrecognized_keys") {
      for (const option of issue.keys) said.set(option, noOption(option, named));
      continue;
    }
    const option = String(issue.path[0] ?? "");
    if (said.has(option)) continue;
    const value = issue.path.reduce<unknown>(
      (all, key) => (all as Record<PropertyKey, unknown>)[key],
      options,
    );
    const what = Array.isArray(value) && value.length > 0 ? "" : ` (given: ${shown(value)})`;
    said.set(option, `${named(option)} is not right: ${issue.message}${what}.`);
  }
  throw new ConfigError([...said.values()].join("\n"));
}

function noOption(option: string, named: (option: string, like?: string) => string): string {
  const meant = nearest(option, Object.keys(Config.shape));
  const hint = meant === undefined ? "" : ` Did you mean ${named(meant, option)}?`;
  return `There is no option ${named(option)}.${hint} See cothread --help for those there are.`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An equals sign within a name would end it: what does not fit stays as it is, and is refused. */
function listed(agents: Record<string, unknown>): unknown {
  return Object.entries(agents).map(([name, url]) =>
    typeof url === "string" && !name.includes("=") ? `${name}=${url}` : { [name]: url },
  );
}

/** Longest piece of a wrong value that is repeated, characters. */
const SHOWN = 60;

/** A value as a sentence repeats it: shortened, and without what may be a password or a key. */
export function shown(value: unknown): string {
  const text = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  const safe = text.replaceAll(/[^\s"/=]*:\S*@|\/\/\S*@/g, "…@").replaceAll(/\?[^"\s]+/g, "?…");
  return safe.length > SHOWN ? `${safe.slice(0, SHOWN)}…` : safe;
}
