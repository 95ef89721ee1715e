import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { Config, ConfigError, parseConfig } from "../server/config.ts";
import { openStore } from "../server/store/open.ts";
import type { Person } from "../shared/protocol/index.ts";
import { cleanEnvironment } from "./kit/build.ts";
import { RawClient } from "./kit/raw-client.ts";
import { openServer } from "./kit/server.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "cothread-cli-"));
const cli = join(folder, "dist/server/cli.js");

// Built for this file alone: what lies in dist/ may be older than the sources.
beforeAll(() => {
  try {
    const outDir = join(folder, "dist");
    execFileSync("npx", ["tsc", "-p", "tsconfig.build.json", "--outDir", outDir], {
      cwd: ROOT,
      stdio: "pipe",
    });
  } catch {
    // Types are checked elsewhere; the compiler writes its output all the same.
  }
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  for (const name of ["node_modules", "migrations"]) symlinkSync(join(ROOT, name), join(folder, name));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Ended = { status: number | null; out: string; err: string };

/** A process of the CLI; it is ended with the test. */
class Cli {
  out = "";
  err = "";
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  private waiting: (() => void)[] = [];

  constructor(args: string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [cli, ...args], {
      cwd: folder,
      env: { ...cleanEnvironment(), ...env },
    });
    const look = () => {
      const waiting = this.waiting;
      this.waiting = [];
      for (const again of waiting) again();
    };
    this.child.stdout?.on("data", (data) => {
      this.out += data;
      look();
    });
    this.child.stderr?.on("data", (data) => {
      this.err += data;
      look();
    });
    this.ended = new Promise((resolve) =>
      this.child.on("close", (status) => {
        look();
        resolve({ status, out: this.out, err: this.err });
      }),
    );
    onTestFinished(() => {
      this.child.kill("SIGKILL");
    });
  }

  /** Waits for something to be printed. @throws Error when the process ends before */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.out);
      if (found) return found;
      if (this.child.exitCode !== null) throw new Error(`ended without ${pattern}: ${this.out}${this.err}`);
      await new Promise<void>((again) => this.waiting.push(again));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Stops reading what it prints, as `head` does. */
  hangUp(): void {
    this.child.stdout?.destroy();
  }
}

const run = (args: string[], env?: Record<string, string>) => new Cli(args, env).ended;
const SERVE = ["serve", "--port", "0", "--log-level", "silent", "--store", "memory:"];

async function serving(
  args: string[] = [],
  env?: Record<string, string>,
): Promise<{ server: Cli; url: string }> {
  const server = new Cli([...SERVE, ...args], env);
  const [, url] = await server.prints(/^listening on (http:\/\/127\.0\.0\.1:\d+)$/m);
  return { server, url: url as string };
}

describe("options", () => {
  // Each is a process of its own: what only the schema decides is in the next test.
  const wrong: [string[], RegExp][] = [
    [["--prot", "1"], /^There is no option --prot\. Did you mean --port\? See cothread --help/],
    [["--demo-spede=1"], /--demo-spede\. Did you mean --demo-speed\?/],
    [["--xyz"], /--xyz\. See/],
    [["--port"], /^--port needs a value\./],
    [["--host", "--share"], /^--host needs a value\./],
    [["--demo-speed", "-3"], /^--demo-speed is not right: it must be 0 or more \(given: "-3"\)\./],
    [["--synchronous", "maybe"], /^--synchronous .*normal or full \(given: "maybe"\)\./],
    [["--agent", "a b=http://x"], /^--agent .*name .*without spaces \(given: "a b=http:\/\/x"\)\./],
    [["--agent", "a=ftp://me:secret@x/?key=secret"], /^--agent .*NAME=http/],
    [["--host", "203.0.113.7", "--insecure"], /^203\.0\.113\.7 is no address .*--host/],
    [["--port=-1"], /--port.*0 or more/],
    [["--share=yes"], /--share/],
    [["--agent", "a=http://x", "--agent", "a=http://y"], /--agent.*one name, "a"\./],
    [["--host", "0.0.0.0"], /host 0\.0\.0\.0.*--share or --insecure/],
    [["--store", "postgres://user:secret@host/db"], /store/],
    [["--config", "nowhere.json"], /--config.*nowhere\.json/],
    [["--url", "http://x"], /--url.*"serve"/],
    [["serve", "twice"], /"twice"/],
    [["dance"], /"dance"/],
    [["tail"], /THREAD/],
    [["tail", "a", "--port", "1"], /--port.*"tail"/],
    [["tail", "a", "--url", "here"], /--url.*"here"/],
    [["tail", "a", "--url", "http://127.0.0.1:1"], /No server answers at http:\/\/127\.0\.0\.1:1/],
  ];
  test("a wrong one gives one sentence that names it, and exit status 1", { timeout: 60_000 }, async () => {
    const left = [...wrong];
    const worker = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [args, pattern] = next;
        const { status, out, err } = await run(args);
        const what = args.join(" ");
        expect([what, status, out]).toEqual([what, 1, ""]);
        expect(err, what).toMatch(pattern);
        expect(err, what).toMatch(/^[^\n]+[.?]\n$/);
        expect(err, what).not.toMatch(/secret|\bat .*\.js|undefined|ZodError/);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
  });

  test("flags win over the environment, that over a file; each sentence names where it was written", {
    timeout: 60_000,
  }, async () => {
    const file = join(folder, "options.json");
    writeFileSync(file, JSON.stringify({ store: "memory:", port: 0, agent: ["filed=http://127.0.0.1:1/"] }));
    const shown = async (args: string[], env: Record<string, string> = {}) => {
      const server = new Cli(["--config", file, "--log-level", "silent", ...args], env);
      await server.prints(/threads .*\n/);
      server.signal("SIGTERM");
      const { out } = await server.ended;
      return [/agents +(.*)/.exec(out)?.[1], /threads +(.*)/.exec(out)?.[1]];
    };
    // An empty variable is one that is not set.
    const some = { COTHREAD_STORE: "sqlite:env.db", COTHREAD_AGENT: "", COTHREAD_CONFIG: "" };
    expect(await shown([], some)).toEqual(["filed", "sqlite:env.db"]);
    const env = { ...some, COTHREAD_AGENT: "b=http://127.0.0.1:1/, c=http://127.0.0.1:2/" };
    expect(await shown(["--store", "sqlite:flag.db"], env)).toEqual(["b, c", "sqlite:flag.db"]);

    const named = async (args: string[], env: Record<string, string>) => (await run(args, env)).err;
    expect(await named([], { COTHREAD_SHARE: "maybe" })).toMatch(/^COTHREAD_SHARE is not right: "maybe"/);
    writeFileSync(file, JSON.stringify({ drainMs: null }));
    expect(await named(["--config", file], {})).toMatch(
      /^"drainMs" in .*options\.json is not right: it must be a whole number/,
    );
    writeFileSync(file, JSON.stringify({ prot: 1 }));
    expect(await named([], { COTHREAD_CONFIG: file })).toMatch(
      /^There is no option "prot" in .*options\.json/,
    );
    writeFileSync(file, JSON.stringify({ agents: {}, port: "no", logLevel: "loud" }));
    const { err } = await run(["--config", file]);
    expect(
      err.match(/^("\w+" in|There is no option "agents"|.*Did you mean "agent"\?).*options\.json/gm),
    ).toHaveLength(3);
    writeFileSync(file, "{nope");
    expect(await named(["--config", file], {})).toMatch(/^--config is not right: .*options\.json/);
  });

  test("a variable that is none of ours is ignored, and named", { timeout: 60_000 }, async () => {
    const { err } = await run(["--port", "no"], { COTHREAD_PROT: "1", COTHREAD_DEMO_SPEED: "0" });
    expect(err.split("\n")).toEqual([
      "There is no variable COTHREAD_PROT; it is ignored. Did you mean COTHREAD_PORT?",
      '--port is not right: it must be a whole number (given: "no").',
      "",
    ]);
  });

  test.each([
    [{ port: "abc" }, /^port is not right: it must be a whole number \(given: "abc"\)\.$/],
    [{ port: "0x10" }, /^port .*whole number/],
    [{ port: 1.5 }, /^port .*whole number/],
    [{ port: 65_536 }, /^port .*65535 or less/],
    [{ port: -1 }, /^port .*0 or more/],
    [{ demoSpeed: 1_001 }, /^demoSpeed .*1000 or less/],
    [{ agent: ["planner"] }, /^agent .*NAME=http/],
    [{ agent: ["planner=ftp://x"] }, /^agent .*NAME=http/],
    [{ agent: ["planner=http://"] }, /^agent /],
    [{ agent: ["1=http://x"] }, /^agent .*number/],
    [{ agent: "planner=http://x" }, /^agent /],
    [{ basePath: "x/" }, /^basePath /],
    [{ basePath: "/x/" }, /^basePath /],
    [{ publicUrl: "chat.example.com" }, /^publicUrl .*http/],
    [{ cors: ["https://app.example.com/"] }, /^cors .*origin/],
    [{ cors: ["app.example.com"] }, /^cors .*origin/],
    [{ logLevel: "loud" }, /^logLevel .*: it must be silent, error, warn, info or debug \(given: "loud"\)/],
    [{ logLevel: "x".repeat(1_000) }, /^.{1,150}$/],
    [{ synchronous: 5 }, /^synchronous .*normal or full \(given: 5\)/],
    [{ demoSpeed: "-3" }, /^demoSpeed .*0 or more/],
    [{ demoSpeed: [] }, /^demoSpeed .*a number \(given: \[\]\)/],
    [{ store: 5 }, /^store .*sqlite:FILE/],
    [{ cors: "https://app.example.com" }, /^cors .*list/],
    [{ cors: [5] }, /^cors .*origin .*\(given: 5\)/],
    [{ agent: { "a b": "http://x" } }, /^agent .*spaces/],
    [{ agent: { "a=b": "http://x" } }, /^agent .*NAME=http/],
    [{ agent: { "7": "http://x" } }, /^agent .*number/],
    [{ agent: { a: 5 } }, /^agent .*NAME=http/],
    [{ agent: ["a=http://x", "b=http://x", "a=http://y"] }, /^agent .*one name, "a"\.$/],
    [{ agents: { a: "http://x" } }, /^There is no option agents\. Did you mean agent\?/],
    [{ "drain-ms": 1 }, /Did you mean drainMs\?/],
    [{ share: "yes" }, /^share /],
    [{ host: "" }, /^host /],
    [{ prot: 1 }, /^There is no option prot\./],
  ])("%j is refused with a sentence", (options, pattern) => {
    const refused = () => parseConfig(options, (option) => option);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(pattern);
    expect(refused).toThrow(/^[^\n]+\.$/);
  });

  test("agents may be written as an object, first come first", () => {
    const { agent } = parseConfig({ agent: { b: "http://127.0.0.1:1/x?y=z", a: "https://host" } });
    expect(agent).toEqual(["b=http://127.0.0.1:1/x?y=z", "a=https://host"]);
  });

  test("all that is wrong is said at once, a line for each, and no secret in any", () => {
    const options = {
      port: "x",
      agents: {},
      drainMs: -1,
      publicUrl: "ftp://me:secret@host",
      agent: ["a=http://me:secret@host x", "b=ws://host/?key=secret"],
      cors: ["https://me:secret@host", "me:secret@host"],
    };
    let lines: string[] = [];
    try {
      parseConfig(options);
    } catch (error) {
      lines = (error as Error).message.split("\n");
    }
    const named = lines.map((line) => /^(?:There is no option )?(\w+)/.exec(line)?.[1]);
    expect(named.sort()).toEqual(Object.keys(options).sort());
    expect(lines.join()).not.toMatch(/secret|undefined|Invalid/);
  });

  test("numbers are numbers: nothing that is none becomes 0", () => {
    for (const option of ["port", "drainMs", "roomIdleMs", "demoSeed", "demoSpeed"])
      for (const value of [
        null,
        true,
        false,
        "",
        " ",
        [],
        ["1"],
        {},
        "1e3",
        "Infinity",
        Number.NaN,
        Number.POSITIVE_INFINITY,
      ])
        expect(() => parseConfig({ [option]: value }), `${option} ${value}`).toThrow(ConfigError);
    expect(parseConfig({ port: "0", drainMs: "12", demoSeed: "-3", demoSpeed: "0.5" })).toMatchObject({
      port: 0,
      drainMs: 12,
      demoSeed: -3,
      demoSpeed: 0.5,
    });
  });

  test("every option has a description, and --help shows it", async () => {
    const { status, out, err } = await run(["--help"]);
    expect([status, err]).toEqual([0, ""]);
    for (const [option, schema] of Object.entries(Config.shape)) {
      const { what } = schema.meta() as { what?: string };
      expect(what, option).toMatch(/\w{3}/);
      expect(out).toContain(what);
      expect(out).toContain(`--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    }
    expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("serve", () => {
  test("says where it listens, and stops on SIGTERM within drainMs with a run under way", {
    timeout: 60_000,
  }, async () => {
    const file = join(folder, "drain.db");
    const { server, url } = await serving([
      "--store",
      `sqlite:${file}`,
      "--drain-ms",
      "400",
      "--demo-speed",
      "0.1",
    ]);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const ana = await RawClient.hello(url, "Ana");
    await ana.join("t");
    const messages = [{ id: "m", role: "user", content: "Plan a launch" }];
    await ana.ask({ type: "submit", thread: "t", inputId: "i", runId: "r1", messages });
    await ana.entry((e) => e.kind === "event" && e.event.type === "RUN_STARTED");
    const began = performance.now();
    server.signal("SIGTERM");
    expect(await ana.closed).toMatchObject({ code: 4000, bye: { retryAfterMs: expect.any(Number) } });
    const { status, err } = await server.ended;
    expect([status, err]).toEqual([0, ""]);
    // The agent would take more than a minute; a slow machine takes its time for the rest.
    expect(performance.now() - began).toBeLessThan(15_000);
    const store = await openStore(`sqlite:${file}`);
    onTestFinished(() => store.close());
    const log = await store.read({ tenant: "default", thread: "t" }, 0, 1_000);
    expect(log.slice(-2)).toMatchObject([
      { kind: "event", event: { type: "RUN_ERROR", code: "SERVER_RESTART" } },
      { kind: "input", status: "failed", reason: "SERVER_RESTART" },
    ]);
    expect(await store.unfinished()).toEqual([]);
  });

  test("stops at once when it is told so twice", { timeout: 60_000 }, async () => {
    const { server, url } = await serving(["--drain-ms", "60000"]);
    const ana = await RawClient.hello(url, "Ana");
    await ana.join("t");
    const messages = [{ id: "m", role: "user", content: "Plan a launch" }];
    await ana.ask({ type: "submit", thread: "t", inputId: "i", runId: "r1", messages });
    server.signal("SIGINT");
    await server.prints(/^stopping; /m);
    server.signal("SIGINT");
    expect((await server.ended).status).toBe(130);
  });

  test("a port that is taken, a folder that cannot be written: one sentence", {
    timeout: 60_000,
  }, async () => {
    const taken = createServer();
    await new Promise<void>((ready) => taken.listen(0, "127.0.0.1", ready));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const { status, err } = await run(["--port", String(port), "--store", "memory:"]);
    expect([status, err]).toEqual([
      1,
      `Port ${port} is taken by another program. Choose another with --port.\n`,
    ]);
    const nowhere = await run(["--port", "0", "--store", "sqlite:no/such/folder/a.db"]);
    expect(nowhere.status).toBe(1);
    expect(nowhere.err).toMatch(/^[^\n]+\.\n$/);
  });
});

describe("tail", () => {
  test("shows what was said, follows what happens, and obeys nothing that is written there", {
    timeout: 60_000,
  }, async () => {
    const { server, url } = await serving(["--demo-speed", "0"]);
    const ana = await RawClient.hello(url, "Ana");
    await ana.join("t");
    const say = (id: string, content: string, more: object = {}) =>
      ana.ask({
        type: "submit",
        thread: "t",
        inputId: `i${id}`,
        messages: [{ id, role: "user", content }],
        ...more,
      });
    await say("m1", "hello \u001b]52;c;AAAA\u0007 there\nsecond line", { start: false });
    const tail = new Cli(["tail", "t", "--url", url]);
    const json = new Cli(["tail", "t", "--url", `${url}/`, "--json"]);
    await tail.prints(/^— live from entry \d+$/m);
    // The other one prints nothing until something happens; it is here when both are.
    const here = new Set<string>();
    while (here.size < 2) {
      const people = (await ana.next("people")) as { all?: Person[]; join?: Person[] };
      for (const { client, user } of [...(people.all ?? []), ...(people.join ?? [])])
        if (user.name === "cothread tail") here.add(client);
    }
    expect(tail.out).toContain("Ana: hello �]52;c;AAAA� there second line");
    await say("m2", "say this", { agent: "echo" });
    await tail.prints(/RUN_STARTED echo, asked by Ana/);
    await tail.prints(/RUN_FINISHED/);
    expect(tail.out).toMatch(/Ana: say this/);
    await say("m3", "\u009b31m\u0000 x", { start: false });
    await tail.prints(/Ana: �31m� x/);
    await json.prints(/"id":"m3"/);
    server.signal("SIGTERM");
    const ended = await tail.ended;
    expect([ended.status, ended.err]).toEqual([0, ""]);
    expect(ended.out).toMatch(/— the connection ended \(4000\)\n$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(ended.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const lines = (await json.ended).out.trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { seq: number });
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => (entries[0]?.seq as number) + i));
  });

  test("a thread that does not exist, a server that does not let one in: one sentence", {
    timeout: 60_000,
  }, async () => {
    const { url } = await openServer({ agents: { echo: async function* () {} } });
    const missing = await run(["tail", "nowhere", "--url", url]);
    expect(missing).toEqual({ status: 1, out: "", err: "There is no such thread.\n" });
    const closed = await openServer({ authenticate: async () => ({ refused: "Sign in first, please." }) });
    expect(await run(["tail", "t", "--url", closed.url])).toEqual({
      status: 1,
      out: "",
      err: "Sign in first, please.\n",
    });
  });

  test("something that is no Cothread server is called so", { timeout: 60_000 }, async () => {
    const plain = createHttpServer((_request, response) => response.end("hello"));
    const raw = createServer((socket) => void socket.on("error", () => {}).end("220 mail.example ESMTP\r\n"));
    const chat = new WebSocketServer({ noServer: true });
    const other = createHttpServer().on("upgrade", (request, socket, head) =>
      chat.handleUpgrade(request, socket, head, (opened) => opened.send("hi there")),
    );
    for (const server of [plain, raw, other]) {
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      onTestFinished(() => void server.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { status, out, err } = await run(["tail", "t", "--url", url]);
      expect([status, out]).toEqual([1, ""]);
      expect(err).toMatch(/^What answers at http:\S+ is no Cothread server \([^\n]+\)\. Check [^\n]+\n$/);
    }
  });

  test("a refusal of the upgrade is told in the server's words", { timeout: 60_000 }, async () => {
    const { url } = await openServer();
    const refusing = createHttpServer().on("upgrade", (_request, socket) =>
      socket.end(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 12\r\n\r\nNot by that.",
      ),
    );
    await new Promise<void>((ready) => refusing.listen(0, "127.0.0.1", ready));
    onTestFinished(() => void refusing.close());
    const { port } = refusing.address() as AddressInfo;
    expect(await run(["tail", "t", "--url", `http://127.0.0.1:${port}`])).toMatchObject({
      status: 1,
      err: "Not by that.\n",
    });
    expect((await run(["tail", "t", "--url", `${url}/below`])).err).toMatch(
      /no Cothread server \(HTTP status 404\)/,
    );
  });

  test("ends quietly when nobody reads it any more", { timeout: 60_000 }, async () => {
    const { url } = await serving();
    const ana = await RawClient.hello(url, "Ana");
    await ana.join("t");
    const tail = new Cli(["tail", "t", "--url", url, "--json"]);
    await ana.find((f) => f.type === "people" && !!f.join?.some(({ user }) => user.name === "cothread tail"));
    tail.hangUp();
    const note = (i: number) => ({
      type: "submit",
      thread: "t",
      inputId: `i${i}`,
      start: false,
      messages: [{ id: `m${i}`, role: "user", content: "x".repeat(10_000) }],
    });
    for (let i = 0; i < 20; i += 1) await ana.ask(note(i));
    const { status, err } = await tail.ended;
    expect([status, err]).toEqual([0, ""]);
  });
});
