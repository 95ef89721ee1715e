import { describe, expect, test } from "vitest";
import { floorBreaches } from "./floors.ts";
import { readModule } from "./module-source.ts";

describe("the checker of floors", () => {
  const check = (sources: Record<string, string>) =>
    floorBreaches(
      new Map(Object.entries(sources)),
      new Set(["zod", "ws", "better-sqlite3", "react", "@ag-ui/client", "yjs", "y-protocols"]),
    );

  test.each([
    ["server/cli.ts", "./index.ts"],
    ["server/index.ts", "./config.ts"],
    ["server/index.ts", "./gateway/gateway.ts"],
    ["server/index.ts", "./version.ts"],
    ["server/gateway/connection.ts", "../room/rooms.ts"],
    ["server/gateway/connection.ts", "../auth/guest.ts"],
    ["server/room/room.ts", "./people.ts"],
    ["server/room/room.ts", "../run/driver.ts"],
    ["server/run/driver.ts", "../agents/registry.ts"],
    ["server/store/sqlite.ts", "better-sqlite3"],
    ["server/store/sqlite-lock.ts", "better-sqlite3"],
    ["server/store/sqlite.ts", "node:fs"],
    ["server/store/store.ts", "../../shared/protocol/index.ts"],
    ["server/gateway/upgrade.ts", "ws"],
    ["shared/protocol/ids.ts", "zod"],
    ["client/thread.ts", "./connection.ts"],
    ["client/thread.ts", "../shared/timeline/timeline.ts"],
    ["client/react/index.ts", "react"],
    ["client/react/index.ts", "react/jsx-runtime"],
    ["client/react/index.ts", "../thread.ts"],
    ["client/app/main.tsx", "../react/index.ts"],
    ["client/app/main.tsx", "../doc/index.ts"],
    ["client/app/editor/base.ts", "@codemirror/state"],
    ["client/app/editor/base.ts", "@lezer/highlight"],
    ["client/app/editor/base.ts", "y-codemirror.next"],
    ["client/app/editor/base.ts", "y-protocols/awareness"],
    ["client/doc/lane.ts", "yjs"],
    ["client/doc/lane.ts", "y-protocols/sync"],
    ["client/app/main.tsx", "react-dom/client"],
    ["client/app/main.tsx", "react-markdown"],
    ["client/app/main.tsx", "@fontsource-variable/inter"],
    ["client/app/main.tsx", "./app.css"],
    ["client/app/vite.config.ts", "vite"],
  ])("%s may import %s", (path, specifier) => {
    expect(check({ [path]: `import "${specifier}";` })).toEqual([]);
  });

  test.each([
    ["server/index.ts", "./cli.ts", "only go down"],
    ["server/config.ts", "./index.ts", "only go down"],
    ["server/gateway/connection.ts", "../config.ts", "only go down"],
    ["server/room/room.ts", "../gateway/outbox.ts", "only go down"],
    ["server/run/driver.ts", "../room/room.ts", "only go down"],
    ["server/store/sqlite.ts", "../run/inputs.ts", "only go down"],
    ["server/store/sqlite.ts", "../auth/roles.ts", "stand on one floor"],
    ["server/run/driver.ts", "../plugins/plugin.ts", "stands on no floor"],
    ["server/index.ts", "../client/index.ts", "never meet"],
    ["server/index.ts", "../test/kit/pair.ts", "stay within"],
    ["server/room/room.ts", "better-sqlite3", "only server/store/sqlite.ts"],
    ["server/store/migrate.ts", "better-sqlite3", "only server/store/sqlite.ts"],
    ["server/gateway/page.ts", "react", "no React"],
    ["server/gateway/page.ts", "vitest", "not among the dependencies"],
    ["client/thread.ts", "../server/room/room.ts", "never meet"],
    ["client/thread.ts", "./react/index.ts", "knows neither"],
    ["client/thread.ts", "react", "knows no React"],
    ["client/thread.ts", "node:events", "may not use Node's modules"],
    ["client/thread.ts", "events", "may not use Node's modules"],
    ["client/thread.ts", "zod", "as types only"],
    ["client/thread.ts", "@ag-ui/client", "as types only"],
    ["client/thread.ts", "@ag-ui/core/schemas", "as types only"],
    ["client/react/index.ts", "react-dom", "React and client/ only"],
    ["client/react/index.ts", "../../shared/protocol/index.ts", "React and client/ only"],
    ["client/react/index.ts", "../app/main.tsx", "React and client/ only"],
    ["client/app/main.tsx", "../thread.ts", "never what is behind them"],
    ["client/app/main.tsx", "../react/use-thread.ts", "never what is behind them"],
    ["client/app/main.tsx", "../doc/lane.ts", "never what is behind them"],
    ["client/app/main.tsx", "../../shared/clock.ts", "never what is behind them"],
    ["client/app/main.tsx", "y-websocket", "styles and fonts only"],
    ["client/thread.ts", "yjs", "only client/doc and client/app know Yjs"],
    ["client/thread.ts", "y-protocols/sync", "only client/doc and client/app know Yjs"],
    ["client/app/main.tsx", "zod", "styles and fonts only"],
    ["client/app/main.tsx", "vite", "styles and fonts only"],
    ["client/app/main.tsx", "cothread/react", "by relative path"],
    ["shared/clock.ts", "node:timers", "may not use Node's modules"],
    ["shared/clock.ts", "react", "its packages are"],
    ["shared/clock.ts", "../server/index.ts", "knows neither server/ nor client/"],
    ["shared/clock.ts", "../client/index.ts", "knows neither server/ nor client/"],
  ])("%s may not import %s", (path, specifier, rule) => {
    const [breach, ...more] = check({ [path]: `\nimport "${specifier}";` });
    expect(breach).toMatch(new RegExp(`^${path}:2 imports `));
    expect(breach).toContain(specifier.replace(/^(\.\.?\/)+/, ""));
    expect(breach).toContain(rule);
    expect(more).toEqual([]);
  });

  test.each([
    'import { a } from "node:fs";',
    'import type { a } from "node:fs";',
    'import * as a from "node:fs";',
    'export { a } from "node:fs";',
    'export * from "node:fs";',
    'export type { a } from "node:fs";',
    'const a = await import("node:fs");',
    "const a = await import(`node:fs`);",
    'type A = import("node:fs").Stats;',
    'const a: typeof import("node:fs") | null = null;',
    'import {\n  a,\n  b,\n} from "node:fs";',
  ])("sees %s", (source) => {
    expect(check({ "shared/clock.ts": source })).toHaveLength(1);
  });

  test("is not taken in by comments and strings", () => {
    const source = '// import "node:fs";\n/* import "node:fs" */ export const a = `import "node:fs";`;';
    expect(check({ "shared/clock.ts": source })).toEqual([]);
  });

  test("takes types for types, and a value list that happens to hold types only for a run-time import", () => {
    expect(check({ "client/thread.ts": 'import type { AbstractAgent } from "@ag-ui/client";' })).toEqual([]);
    expect(check({ "client/thread.ts": 'export type { AbstractAgent } from "@ag-ui/client";' })).toEqual([]);
    expect(check({ "client/thread.ts": 'import { type AbstractAgent } from "@ag-ui/client";' })).toHaveLength(
      1,
    );
  });

  test("lets only the store know the types of better-sqlite3", () => {
    const source = 'import type { Database } from "better-sqlite3";';
    expect(check({ "server/store/migrate.ts": source })).toEqual([]);
    expect(check({ "server/room/room.ts": source })).toHaveLength(1);
  });

  test("follows what the client loads through shared/", () => {
    const shared = {
      "shared/protocol/index.ts": 'export * from "./codes.ts"; export * from "./ids.ts";',
      "shared/protocol/codes.ts": "export const REJECTS = {};",
      "shared/protocol/ids.ts": 'import { z } from "zod"; export const Id = z.string();',
    };
    const client = (source: string) => check({ ...shared, "client/connection.ts": source });
    expect(client('import { REJECTS } from "../shared/protocol/codes.ts";')).toEqual([]);
    expect(client('import type { Id } from "../shared/protocol/index.ts";')).toEqual([]);
    const [breach] = client('import { REJECTS } from "../shared/protocol/index.ts";');
    expect(breach).toContain(
      "client/connection.ts:1 imports shared/protocol/index.ts, which imports shared/protocol/ids.ts, which imports zod: ",
    );
  });

  test("sees globals of a platform that the code does not always run on", () => {
    expect(check({ "shared/a.ts": "export const a = process.pid;" })[0]).toContain("Node's globals");
    expect(check({ "shared/a.ts": "export const a = (x: HTMLElement) => x;" })[0]).toContain(
      "a browser's globals",
    );
    expect(check({ "client/a.ts": "export const a = Buffer.from('');" })[0]).toContain("Node's globals");
    expect(check({ "server/room/a.ts": "export const a = { document };" })[0]).toContain(
      "a browser's globals",
    );
    expect(check({ "client/a.ts": "export const a = document.title;" })).toEqual([]);
    expect(check({ "server/room/a.ts": "export const a = process.pid;" })).toEqual([]);
  });

  test("does not take a name for a global that the file declares, or that names no value", () => {
    const source = `
      import { open as name } from "./b.ts";
      type Pair = [name: string, status: number]; type Call = (event: string) => void;
      interface Shape { parent: string; [origin: string]: string }
      export class Room { history = 1; static self() { return import.meta.url; } }
      export function move({ document, at: [location] }: Shape, ...window: Pair) {
        try { document; location; name; } catch (navigator) { navigator; }
        return { status: window.length, parent: document.parent } as const satisfies object as Call;
      }
      export { origin } from "./b.ts"; export { move as event };`;
    expect(check({ "shared/a.ts": source, "shared/b.ts": "" })).toEqual([]);
  });

  test("says so when a file cannot be read", () => {
    expect(check({ "shared/a.ts": "export const = ;" })[0]).toMatch(
      /^shared\/a.ts cannot be read as TypeScript: /,
    );
  });

  test("reads the titles of tests, in whatever way they are registered", () => {
    const source = `describe("a", () => { test("b", f); it.skipIf(x)("c", f); test.each([1])(\`d \${y}\`, f);
      test.each\`x\`("e", f); expect("f").toBe("g"); test.only("h", f); });`;
    expect(readModule("a.test.ts", source).titles.sort()).toEqual(["a", "b", "c", "d ", "e", "h"]);
  });
});
