import { z } from "zod";

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

/**
 * Every option of a server that flags, `COTHREAD_*` variables and a configuration file can set: one schema
 * for all three. `meta` carries what `--help` prints: what it is, its unit, and why one would change it.
 */
export const Config = z.strictObject({
  port: whole(0, 65_535).default(4000).meta({ what: "TCP port; 0 takes a free one" }),
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .meta({ what: "address to listen on; 0.0.0.0 for every network" }),
  store: z
    .string()
    .default("sqlite:cothread.db")
    .meta({ what: "where threads are kept: sqlite:FILE, or memory: for a server that forgets" }),
  synchronous: z
    .enum(["normal", "full"])
    .default("normal")
    .meta({ what: "full also survives a power cut, and makes every commit wait for the disk" }),
  agent: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[^=\s]{1,256}=https?:\/\/\S+$/, "it must look like NAME=http://host/path")
        // JavaScript puts such keys before all others, and the first agent is the default.
        .regex(/^(?!\d+=)/, "the name of an agent must not be a number")
        .refine((value) => URL.canParse(value.slice(value.indexOf("=") + 1)), "it has a URL that is not one"),
    )
    .refine(
      (list) => new Set(list.map((item) => item.slice(0, item.indexOf("=")))).size === list.length,
      "two agents have one name",
    )
    .default([])
    .meta({ what: "NAME=URL of an AG-UI agent; may be given several times, the first is the default" }),
  share: z
    .boolean()
    .default(false)
    .meta({ what: "let people on the local network in who have the join code this prints" }),
  insecure: z
    .boolean()
    .default(false)
    .meta({ what: "listen beyond this machine although nobody has to sign in" }),
  basePath: z
    .string()
    .regex(/^(\/[^/?#\s]+)*$/, 'must be empty or begin with "/" and not end with one')
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
        .string()
        .trim()
        .refine(
          (origin) => origin === "*" || (URL.canParse(origin) && new URL(origin).origin === origin),
          "it must be an origin such as https://app.example.com, without a path, or *",
        ),
    )
    .default([])
    .meta({ what: "origins of other web pages that may connect, e.g. https://app.example.com" }),
  demoSpeed: z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d+(\.\d+)?$/)
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
    .enum(["silent", "error", "warn", "info", "debug"])
    .default("info")
    .meta({ what: "how much is logged; never messages or secrets" }),
});
export type Config = z.infer<typeof Config>;

/** An option that is wrong: one sentence that names it. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Checks options from wherever they came.
 * @param given option name → value
 * @param named how an option is called where the person wrote it, for the sentence
 * @throws ConfigError naming the first option that is wrong
 */
export function parseConfig(
  given: Record<string, unknown>,
  named: (option: string) => string = (o) => o,
): Config {
  const parsed = Config.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const [option = ""] = issue.keys;
    throw new ConfigError(`There is no option ${named(option)}. See cothread --help for those there are.`);
  }
  const option = String(issue?.path[0] ?? "");
  throw new ConfigError(`${named(option)} is not right: ${issue?.message ?? "it has the wrong type"}.`);
}
