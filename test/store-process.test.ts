import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { batch, commitAll, creation } from "./contract/store-batches.ts";
import { CLOSE, copyAddon, HOLD, root, shippedStore, TRY } from "./contract/store-process.ts";

const { folder, newFile, opened, refusal, inAnotherProcess } = shippedStore();
const key = { tenant: "default", thread: "launch" };

describe("one process per file", () => {
  test("a second process is refused with a sentence, until the first closes the store", async () => {
    const file = newFile();
    const store = await opened(`sqlite:${file}`);
    const link = `${file}.link`;
    symlinkSync(file, link);
    for (const name of [file, link]) {
      const line = await inAnotherProcess(TRY, name).line();
      expect(line).toMatch(/^in_use: /);
      expect(line).toContain(`${file} is already open in process ${process.pid}.`);
    }
    await commitAll(store, [creation(key, 1)]);
    await store.close();
    expect(await inAnotherProcess(TRY, file).line()).toBe("opened");
  });

  test("closing is over before the process that closes ends, though nothing else keeps it alive", () => {
    const file = newFile();
    const module = pathToFileURL(join(folder, "dist/server/store/open.js")).href;
    const args = ["--input-type=module", "-e", CLOSE, module, file];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect({ stdout, status }).toEqual({ stdout: "closed\n", status: 0 });
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test("the same process is refused a second time, and the first store goes on", async () => {
    const file = newFile();
    const store = await opened(`sqlite:${file}`);
    await commitAll(store, [creation(key, 1)]);
    expect(await refusal(`sqlite:${file}`)).toMatchObject({ code: "in_use" });
    await commitAll(store, [batch(key, 1, 1)]);
    expect(await inAnotherProcess(TRY, file).line()).toMatch(/^in_use: /);
  });

  test("the refusal names the process that has it; kill -9 of that one frees the file", async () => {
    const file = newFile();
    const holder = inAnotherProcess(HOLD, file);
    expect(await holder.line()).toBe("opened");
    const error = await refusal(`sqlite:${file}`);
    expect(error).toMatchObject({ name: "StoreOpenError", code: "in_use" });
    expect(error.message).toContain(`process ${holder.pid}`);
    await holder.end("SIGKILL");
    expect(await (await opened(`sqlite:${file}`)).load(key)).toBeNull();
  });

  test("of several that start on a new file at once, one gets it", async () => {
    const file = newFile();
    const starters = Array.from({ length: 4 }, () => inAnotherProcess(HOLD, file));
    const lines = await Promise.all(starters.map((starter) => starter.line()));
    expect(lines.filter((line) => line === "opened")).toHaveLength(1);
    expect(lines.filter((line) => line?.startsWith("in_use: "))).toHaveLength(3);
  });

  test("what was reported as committed is there after kill -9 in the middle of committing", async () => {
    const file = newFile();
    const writer = inAnotherProcess(
      `const { openStore } = await import(module);
       const store = await openStore("sqlite:" + file);
       const json = (seq) => JSON.stringify({ seq, at: 1, kind: "erased", what: "x".repeat(300) });
       for (let after = 0; ; after += 7) {
         const entries = Array.from({ length: 7 }, (_, i) => ({ seq: after + 1 + i, json: json(after + 1 + i) }));
         const create = after === 0 ? { epoch: "e", at: 1 } : undefined;
         const fold = { seq: after + 7, rest: String(after + 7), messages: [], turns: [], dropped: [] };
         const batch = { key: ${JSON.stringify(key)}, ownerEpoch: 1, mark: "m" + (after + 7), after, entries, create, fold };
         const [result] = await store.commit([batch]);
         if (!result.ok) throw result.error;
         await new Promise((written) => process.stdout.write((after + 7) + "\\n", written));
       }`,
      file,
    );
    let told = 0;
    while (told < 2_000) told = Number(await writer.line());
    await writer.end("SIGKILL");
    for (let rest = await writer.line(); rest !== undefined; rest = await writer.line()) told = Number(rest);
    const store = await opened(`sqlite:${file}`);
    const loaded = await store.load(key);
    const { seq } = loaded!;
    expect(seq).toBeGreaterThanOrEqual(told);
    expect(loaded).toMatchObject({ mark: `m${seq}`, fold: { seq, rest: `${seq}` } });
    const log = await store.read(key, 0, 100_000);
    expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
    await commitAll(store, [batch(key, seq, 1)]);
  });
});

describe("the addon", () => {
  test("is not loaded, nor a file made, on a Node that is too old", async () => {
    const file = newFile();
    const child = inAnotherProcess(
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.18.3" } });
       ${TRY}
       const { sharedObjects } = process.report.getReport();
       console.log(sharedObjects.some((path) => path.includes("better_sqlite3")));`,
      file,
    );
    expect(await child.line()).toBe(
      "node_version: Cothread needs Node 20.19 or newer; this is Node 20.18.3. Install a newer Node.",
    );
    expect(await child.line()).toBe("false");
    expect(existsSync(file)).toBe(false);
  });

  test.for(["18.20.4", "20.9.0", "9.99.99"])("Node %s is too old", async (node) => {
    const child = inAnotherProcess(
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } });
       const { openStore } = await import(module); await tell(openStore("memory:"));`,
    );
    expect(await child.line()).toContain(
      `node_version: Cothread needs Node 20.19 or newer; this is Node ${node}`,
    );
  });

  test.for(["20.19.0", "21.0.0", "22.1.0", "100.0.0"])("Node %s will do", async (node) => {
    const child = inAnotherProcess(
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } });
       const { openStore } = await import(module); await tell(openStore("memory:"));`,
    );
    expect(await child.line()).toBe("opened");
  });

  test("that was never built, was built for another Node, or is not installed, is explained", async () => {
    const home = join(folder, "broken");
    mkdirSync(home);
    cpSync(join(folder, "dist"), join(home, "dist"), { recursive: true });
    cpSync(join(folder, "package.json"), join(home, "package.json"));
    symlinkSync(join(root, "migrations"), join(home, "migrations"));
    copyAddon(home);
    const addon = join(home, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
    const said = async () => inAnotherProcess(TRY, join(home, "a.db"), { home }).line();
    expect(await said()).toBe("opened");
    writeFileSync(addon, "built for another machine");
    expect(await said()).toMatch(/^addon: .*npm rebuild better-sqlite3/);
    rmSync(dirname(addon), { recursive: true });
    expect(await said()).toMatch(/^addon: .*npm rebuild better-sqlite3/);
    rmSync(join(home, "node_modules"), { recursive: true });
    // the folder above has the package too
    cpSync(home, `${folder}-alone`, { recursive: true, verbatimSymlinks: true });
    const alone = inAnotherProcess(TRY, newFile(), { home: `${folder}-alone` });
    expect(await alone.line()).toMatch(/^addon: .*npm install/);
    rmSync(`${folder}-alone`, { recursive: true });
  });
});
