#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { renderUnicodeCompact } from "uqr";
import { z } from "zod";
import { Config, ConfigError, parseConfig, shown } from "./config.ts";
import { nearest } from "./nearest.ts";

const COMMANDS = {
  serve: "start the server (also without any command)",
  "tail THREAD": "follow one thread of a running server; --url says which, --json prints whole entries",
  compact: "make documents anew without what was deleted in them, while no server runs",
};

/** `--demoSpeed` is written `--demo-speed`, and `COTHREAD_DEMO_SPEED` in the environment. */
const dashed = (option: string) => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const flagOf = (option: string) => `--${dashed(option)}`;
const variableOf = (option: string) => `COTHREAD_${dashed(option).replaceAll("-", "_").toUpperCase()}`;

/** Flags of the commands beside `serve`, with those that each looks at. */
const COMMAND_FLAGS = {
  tail: ["url", "json"],
  compact: ["config", "store", "thread", "min-gain", "dry-run", "json"],
};
const MORE_FLAGS = {
  url: { type: "string" },
  json: { type: "boolean" },
  thread: { type: "string", multiple: true },
  "min-gain": { type: "string" },
  "dry-run": { type: "boolean" },
} as const;
const OPTIONS = Object.keys(Config.shape) as (keyof Config)[];
const isList = (option: keyof Config) => unwrapped(option) instanceof z.ZodArray;
const isSwitch = (option: keyof Config) => unwrapped(option) instanceof z.ZodBoolean;

function unwrapped(option: keyof Config): unknown {
  let schema: unknown = Config.shape[option];
  while (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) schema = schema.unwrap();
  return schema;
}

/** Options of the server from a file, the environment and flags; the later win. @throws ConfigError */
function readOptions(flags: Record<string, unknown>): Config {
  const given: Record<string, unknown> = {};
  const written = new Map<string, string>();
  const file = flags.config ?? process.env.COTHREAD_CONFIG;
  if (typeof file === "string" && (file !== "" || flags.config === "")) {
    for (const [option, value] of Object.entries(readFile(file))) {
      given[option] = value;
      written.set(option, `"${option}" in ${file}`);
    }
  }
  for (const option of OPTIONS) {
    const value = process.env[variableOf(option)];
    if (value === undefined || value === "") continue;
    given[option] = isList(option)
      ? value.split(",")
      : isSwitch(option)
        ? truth(value, variableOf(option))
        : value;
    written.set(option, variableOf(option));
  }
  for (const option of OPTIONS) {
    const value = flags[dashed(option)];
    if (value === undefined) continue;
    given[option] = value;
    written.set(option, flagOf(option));
  }
  if (given.demo === true && given.store === undefined) given.store = "memory:";
  // What was meant instead is called as it would be where the wrong name stands.
  const like = (option: string, place: string) => (place.startsWith('"') ? `"${option}"` : flagOf(option));
  return parseConfig(given, (option, other) =>
    other === undefined ? (written.get(option) ?? flagOf(option)) : like(option, written.get(other) ?? ""),
  );
}

/** A sentence for each variable that looks like one of ours and is none: nothing else would tell. */
function strayVariables(): string[] {
  const known = [...OPTIONS.map(variableOf), "COTHREAD_CONFIG"];
  const names = Object.keys(process.env).filter(
    (name) => name.startsWith("COTHREAD_") && !known.includes(name),
  );
  return names.map((name) => {
    const meant = nearest(name, known);
    return `There is no variable ${name}; it is ignored.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
  });
}

function truth(value: string, variable: string): boolean {
  if (["1", "true", "yes", "on"].includes(value.toLowerCase())) return true;
  if (["0", "false", "no", "off"].includes(value.toLowerCase())) return false;
  throw new ConfigError(`${variable} is not right: ${shown(value)} is neither true nor false.`);
}

function readFile(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    const why = code === undefined ? `it is not JSON (${message})` : `it cannot be read (${code})`;
    throw new ConfigError(`--config is not right: ${path === "" ? "it names no file" : `${path}: ${why}`}.`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(`--config is not right: ${path} must hold one JSON object of options.`);
}

function help(): string {
  const row = (left: string, right: string) => `  ${left.padEnd(26)} ${right}`;
  const options = OPTIONS.map((option) => {
    const { what } = (Config.shape[option].meta() ?? {}) as { what?: string };
    const schema = Config.shape[option];
    const preset = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
    const shown =
      preset === undefined || preset === false || preset === "" || isList(option) ? "" : ` (${preset})`;
    return row(flagOf(option), `${what}${shown}`);
  });
  return [
    "cothread: shared agent sessions on your own server",
    "",
    "Commands",
    ...Object.entries(COMMANDS).map(([command, what]) => row(`cothread ${command}`, what)),
    "",
    "Options, also as COTHREAD_* variables and in a JSON file",
    ...options,
    row("--url, --json", "of tail: the server (http://127.0.0.1:4000), and whole entries as JSON"),
    row("--thread", "of compact: id of a thread; may be given several times (all)"),
    row("--min-gain", "of compact: leave documents alone that would lose less than this (50%)"),
    row("--dry-run, --json", "of compact: change nothing, and one JSON object a line"),
    row("--config", "JSON file with options, by their names in camel case"),
    row("--version, --help", "print the version, or this"),
  ].join("\n");
}

async function serve(flags: Record<string, unknown>): Promise<void> {
  for (const sentence of strayVariables()) console.error(sentence);
  const { agent, ...config } = readOptions(flags);
  const { createServer } = await import("./index.ts");
  const agents = agent.length > 0 ? await remoteAgents(agent) : undefined;
  const server = await createServer({ ...config, ...(agents && { agents }) });
  console.log(`listening on ${server.url}`);
  console.log(
    `  agents    ${server.agents.map(({ name, id }) => (name === id ? id : `${name} (${id})`)).join(", ")}`,
  );
  console.log(
    `  threads   ${config.store === "memory:" ? "in memory; they are gone when the server stops" : config.store}`,
  );
  if (config.demo) console.log(`  two people side by side: ${server.url}/demo.html`);
  if (server.shareUrl) {
    console.log(`  for others on this network: ${server.shareUrl}`);
    // For a phone, which nobody wants to type an address into; a log file has no camera before it.
    if (process.stdout.isTTY) console.log(`\n${renderUnicodeCompact(server.shareUrl, { border: 2 })}\n`);
  }
  let stopping = false;
  const stop = () => {
    // Pressed twice: somebody does not want to wait.
    if (stopping) process.exit(130);
    stopping = true;
    console.log("stopping; running agents get a moment to finish (press again to stop at once)");
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

async function remoteAgents(list: string[]) {
  const { HttpAgent } = await import("@ag-ui/client");
  return Object.fromEntries(
    list.map((item) => {
      const at = item.indexOf("=");
      return [item.slice(0, at), new HttpAgent({ url: item.slice(at + 1) })];
    }),
  );
}

async function main(argv: string[]): Promise<void> {
  const { values, positionals } = parse(argv);
  const { VERSION } = await import("./version.ts");
  if (values.help) return console.log(help());
  if (values.version) return console.log(VERSION);
  const [command = "serve", ...rest] = positionals;
  if (command === "serve") {
    if (rest.length > 0) throw new ConfigError(`"serve" takes no argument, but there is "${rest[0]}".`);
    refuseFlags(command, values, Object.keys(MORE_FLAGS));
    return serve(values);
  }
  if (command === "tail") {
    const [thread, more] = rest;
    if (!thread) throw new ConfigError("Say which thread to follow: cothread tail THREAD.");
    if (more !== undefined) throw new ConfigError(`"tail" follows one thread, but there is also "${more}".`);
    refuseOthers(command, values);
    const { tail } = await import("./tail.ts");
    return tail(thread, { url: String(values.url ?? "http://127.0.0.1:4000"), json: values.json === true });
  }
  if (command === "compact") {
    if (rest.length > 0)
      throw new ConfigError(`"compact" takes no argument, but there is "${rest[0]}". Use --thread ID.`);
    refuseOthers(command, values);
    return compactStore(values);
  }
  throw new ConfigError(`There is no command "${command}". See cothread --help for those there are.`);
}

async function compactStore(values: Record<string, unknown>): Promise<void> {
  for (const sentence of strayVariables()) console.error(sentence);
  const { store } = readOptions(values);
  const { compact } = await import("./compact.ts");
  const request = {
    store,
    threads: (values.thread as string[] | undefined) ?? [],
    minGain: String(values["min-gain"] ?? "50%"),
    dryRun: values["dry-run"] === true,
    json: values.json === true,
  };
  const output = { print: console.log, note: console.error, now: Date.now };
  if (!(await compact(request, output))) process.exitCode = 1;
}

function refuseOthers(command: keyof typeof COMMAND_FLAGS, values: Record<string, unknown>): void {
  const all = ["config", ...Object.keys(MORE_FLAGS), ...OPTIONS.map(dashed)];
  const own = COMMAND_FLAGS[command];
  refuseFlags(
    command,
    values,
    all.filter((flag) => !own.includes(flag)),
  );
}

/** A flag that a command does not look at is a mistake, and saying nothing would hide it. */
function refuseFlags(command: string, values: Record<string, unknown>, foreign: readonly string[]): void {
  const flag = foreign.find((name) => values[name] !== undefined);
  if (flag) throw new ConfigError(`--${flag} is not an option of "${command}". See cothread --help.`);
}

function parse(argv: string[]) {
  const options: Record<string, { type: "string" | "boolean"; multiple?: boolean; short?: string }> = {
    config: { type: "string" },
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "v" },
    ...MORE_FLAGS,
  };
  for (const option of OPTIONS) {
    options[dashed(option)] = {
      type: isSwitch(option) ? "boolean" : "string",
      ...(isList(option) && { multiple: true }),
    };
  }
  // A negative number is a value, and to be told so what is wrong with it.
  const args = argv.flatMap((arg, i) => {
    const before = argv[i - 1] ?? "";
    if (isNegative(arg) && options[before.slice(2)]?.type === "string") return [];
    const next = argv[i + 1];
    return [
      next !== undefined && isNegative(next) && options[arg.slice(2)]?.type === "string"
        ? `${arg}=${next}`
        : arg,
    ];
  });
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { message } = error as Error;
    const flag = /'(?:-\w, )?(--?[^' ]+)/.exec(message)?.[1] ?? "";
    if (/Unknown option/.test(message)) {
      const meant = nearest(flag.slice(2), Object.keys(options));
      const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
      throw new ConfigError(`There is no option ${flag}.${hint} See cothread --help for those there are.`);
    }
    if (/argument (missing|is ambiguous)/.test(message)) throw new ConfigError(`${flag} needs a value.`);
    throw new ConfigError(`${flag} takes no value.`);
  }
}

const isNegative = (arg: string) => /^-\d/.test(arg);

/** A sentence for what the system refused, or `undefined`. */
function refusal({ code, port, address, hostname }: Refusal): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is taken by another program. Choose another with --port.`;
    case "EACCES":
      return `Port ${port} may not be opened by this user. Choose one above 1023 with --port.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${address ?? hostname} is no address of this machine. Choose another with --host.`;
    default:
      return undefined;
  }
}
type Refusal = { code?: string; port?: number; address?: string; hostname?: string };

main(process.argv.slice(2)).catch((error: unknown) => {
  const known = error instanceof Error && /^(ConfigError|StoreOpenError)$/.test(error.name);
  console.error(known ? error.message : (refusal((error ?? {}) as Refusal) ?? error));
  process.exit(1);
});
