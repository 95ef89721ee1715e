import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { migrateSqlite, schemaVersion } from "../server/store/migrate.ts";
import { commitAll, creation } from "./contract/store-batches.ts";
import { root, shippedStore, TRY } from "./contract/store-process.ts";

const { folder, newFile, opened, refusal, inAnotherProcess } = shippedStore();
const key = { tenant: "default", thread: "launch" };

describe("files that cannot be used", () => {
  test("a newer schema is refused and left as it is", async () => {
    const file = newFile();
    await (await opened(`sqlite:${file}`)).close();
    const shell = new Database(file);
    shell.pragma("user_version = 999");
    shell.close();
    const error = await refusal(`sqlite:${file}`);
    const known = readdirSync(join(root, "migrations/sqlite")).length;
    expect(error).toMatchObject({ code: "newer_schema" });
    expect(error.message).toContain("999");
    expect(error.message).toContain(`knows ${known}`);
    expect(new Database(file).pragma("user_version", { simple: true })).toBe(999);
  });

  test("a file that is not a database is refused and left as it is", async () => {
    const file = newFile();
    const text = "This is a shopping list and by no means a database.\n".repeat(20);
    writeFileSync(file, text);
    expect(await refusal(`sqlite:${file}`)).toMatchObject({ code: "not_a_database" });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(existsSync(`${file}-lock`)).toBe(false);
    mkdirSync(join(folder, "a folder"));
    expect(await refusal(`sqlite:${folder}/a folder`)).toMatchObject({ code: "not_a_database" });
  });

  test("an empty file becomes a store", async () => {
    const file = newFile();
    writeFileSync(file, "");
    await commitAll(await opened(`sqlite:${file}`), [creation(key, 1)]);
  });

  test("another program's database is refused and left as it is", async () => {
    const file = newFile();
    const theirs = new Database(file);
    theirs.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    theirs.close();
    const before = readFileSync(file);
    expect(await refusal(`sqlite:${file}`)).toMatchObject({ code: "foreign" });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${file}-lock`)).toBe(false);
  });

  test("a damaged database and a damaged lock file are told apart", async () => {
    const file = newFile();
    await (await opened(`sqlite:${file}`)).close();
    writeFileSync(`${file}-lock`, "not a database either, of some length".repeat(30));
    const lock = await refusal(`sqlite:${file}`);
    expect(lock).toMatchObject({ code: "corrupt" });
    expect(lock.message).toContain(`${file}-lock`);
    rmSync(`${file}-lock`);
    // page 1 holds the schema; its first 100 bytes say that it is a database
    writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 100), Buffer.alloc(8_192, 0xa5)]));
    expect(await refusal(`sqlite:${file}`)).toMatchObject({ code: "corrupt" });
  });

  test("a folder that does not exist is named", async () => {
    const error = await refusal(`sqlite:${folder}/none/here.db`);
    expect(error).toMatchObject({ code: "no_directory" });
    expect(error.message).toContain(`${folder}/none `);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test("what may not be written is named: file, folder, lock", async () => {
    // root may write everything
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const make = async (name: string) => {
      const place = join(folder, name);
      mkdirSync(place);
      const file = join(place, "a.db");
      await (await opened(`sqlite:${file}`)).close();
      for (const path of [file, `${file}-lock`]) chmodSync(path, 0o666);
      chmodSync(place, 0o777);
      return { place, file };
    };
    const said = async (file: string) => inAnotherProcess(TRY, file, nobody).line();

    const { file: fine } = await make("fine");
    expect(await said(fine)).toBe("opened");

    const { file } = await make("read-only file");
    chmodSync(file, 0o444);
    expect(await said(file)).toBe(
      `read_only: ${file} cannot be written by this process. Check its owner, its permissions and the mount.`,
    );
    const { place, file: within } = await make("read-only folder");
    chmodSync(place, 0o555);
    expect(await said(within)).toMatch(`read_only: ${place} cannot be written`);
    expect(await said(join(place, "new.db"))).toMatch(`read_only: ${place} cannot be written`);
    chmodSync(place, 0o777);

    const { file: locked } = await make("read-only lock");
    chmodSync(`${locked}-lock`, 0o444);
    expect(await said(locked)).toMatch(/^read_only: .*-lock file cannot be opened for writing/);
  });
});

describe("migrations", () => {
  test("run in order from where the database stands, each all or not at all", () => {
    const db = new Database(":memory:");
    const one = { version: 1, name: "0001_one.sql", sql: "CREATE TABLE one (a); INSERT INTO one VALUES (1)" };
    const two = { version: 2, name: "0002_two.sql", sql: "INSERT INTO one VALUES (2); CREATE TABLE two (a)" };
    const bad = { ...two, sql: "INSERT INTO one VALUES (3); CREATE TABLE one (a)" };
    const stands = () => [schemaVersion(db), db.prepare("SELECT a FROM one").pluck().all()];
    migrateSqlite(db, [one]);
    expect(stands()).toEqual([1, [1]]);
    expect(() => migrateSqlite(db, [one, bad])).toThrow(
      /0002_two\.sql failed and was undone: table one already/,
    );
    expect(stands()).toEqual([1, [1]]);
    migrateSqlite(db, [one, two]);
    migrateSqlite(db, [one, two]);
    expect(stands()).toEqual([2, [1, 2]]);
    expect(() => migrateSqlite(db, [one])).toThrow(/schema version 2; this version of Cothread knows 1/);
    db.close();
  });
});

describe("store URLs", () => {
  test("name a memory store or a file, relative or absolute", async () => {
    expect((await opened("memory:")).name).toBe("memory:");
    const file = newFile();
    expect((await opened(`sqlite:${file}`)).name).toBe(`sqlite:${file}`);
    const other = newFile();
    expect((await opened(`sqlite://${other}`)).name).toBe(`sqlite:${other}`);
    const child = inAnotherProcess(
      `const { openStore } = await import(module);
       const store = await openStore("sqlite:relative.db"); console.log(store.name);`,
    );
    expect(await child.line()).toBe(`sqlite:${join(folder, "relative.db")}`);
  });

  test.for([
    "",
    "memory",
    "sqlite:",
    "sqlite::memory:",
    "sqlite://cothread.db",
    "cothread.db",
    "mysql://host/db",
  ])("%o names none", async (url) => {
    expect(await refusal(url)).toMatchObject({
      code: "bad_url",
      message: expect.stringContaining("sqlite:FILE"),
    });
  });

  test("a password in one is not repeated", async () => {
    const { message } = await refusal("postgres://someone:hunter2@host/db");
    expect(message).not.toContain("hunter2");
    expect(message).toContain("postgres://…@host/db");
  });
});
