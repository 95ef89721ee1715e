import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { type Import, type ModuleSource, readModule } from "./module-source.ts";

const PICTURE =
  "imports only go down: cli → index → config → gateway → room → run, testing → agents, auth, store, cluster → shared; client → shared";

/** Floors of `server/`, highest first. Folders of one floor do not know each other. */
const SERVER_FLOORS = [
  ["cli"],
  ["index"],
  ["config"],
  ["gateway"],
  ["room"],
  ["run", "testing"],
  ["agents", "auth", "store", "cluster"],
];

/** Packages that `shared/` may use: they run alike in Node and in browsers. */
const ISOMORPHIC = [
  ...["zod", "@ag-ui/core", "yjs", "y-protocols", "lib0", "fast-json-patch"],
  ...["@jest/diff-sequences", "@sanity/diff-match-patch"],
];
/** Packages that the browser SDK may know as types only; they are larger than all of it. */
const TYPES_ONLY_IN_CLIENT = ["zod", "@ag-ui/client", "@ag-ui/core/schemas"];
/** Packages that need a DOM. */
const DOM_PACKAGES = /^(react|react-dom|react-markdown|jsdom|codemirror)(\/|$)|^@codemirror\//;
/** What the web app is made of beside the React hooks. */
const APP_PACKAGES =
  /^(react|react-dom|react-markdown|remark-[\w-]+|rehype-[\w-]+|diff|@fontsource[\w-]*\/.+)(\/|$)/;
/** What people write together with, in the web app. */
const APP_EDITOR_PACKAGES =
  /^(@codemirror\/[\w-]+|@lezer\/highlight|y-codemirror\.next|yjs|y-protocols)(\/|$)/;
/** What comes with the shared document, and with nothing else of the browser SDK. */
const DOCUMENT_PACKAGES = /^(yjs|y-protocols|y-[\w.-]+)(\/|$)/;
const APP_BUILD_PACKAGES = /^(vite|@vitejs\/[\w-]+|node:[\w/]+)(\/|$)/;

const SQLITE = /^server\/store\/sqlite(-[\w-]+)?\.ts$/;
const SQLITE_TYPES = /^server\/store\//;

const NODE_GLOBALS = [
  "process",
  "Buffer",
  "global",
  "require",
  "__dirname",
  "__filename",
  "setImmediate",
  "NodeJS",
];
// Some of these are here because a forgotten declaration silently means the browser's global.
const DOM_GLOBALS = [
  ...[
    "window",
    "document",
    "navigator",
    "localStorage",
    "sessionStorage",
    "indexedDB",
    "location",
    "history",
  ],
  ...[
    "HTMLElement",
    "requestAnimationFrame",
    "self",
    "name",
    "event",
    "parent",
    "status",
    "closed",
    "origin",
  ],
];

/**
 * Holds the floors of the source tree.
 *
 * @param sources text of each `.ts` and `.tsx` file of `server/`, `client/`, `shared/`, by path from the root
 * @param shipped packages that come along when this one is installed
 * @returns one sentence for each breach: file and line, what it imports, the rule
 */
export function floorBreaches(sources: ReadonlyMap<string, string>, shipped: ReadonlySet<string>): string[] {
  const modules = new Map([...sources].map(([path, text]) => [path, readModule(path, text)]));
  const breaches: string[] = [];
  for (const [path, module] of modules) {
    for (const error of module.errors) breaches.push(`${path} cannot be read as TypeScript: ${error}`);
    for (const it of module.imports) {
      const target = resolve(path, it.specifier);
      const rule = target === null ? packageRule(path, it, shipped) : fileRule(path, target);
      const what = target ?? it.specifier;
      if (rule !== null) breaches.push(`${path}:${it.line} imports ${what}: ${rule}`);
      if (target === null || it.typeOnly || !path.startsWith("client/")) continue;
      const chain = heavyChain(target, modules, new Set());
      if (chain === null) continue;
      breaches.push(
        `${path}:${it.line} imports ${chain.join(", which imports ")}: client/ may use ${chain.at(-1)} as types only; import the file that has what you need, or use \`import type\``,
      );
    }
    breaches.push(...globalBreaches(path, module));
  }
  return breaches;
}

/** The file a relative specifier stands for; `null` for a package. */
function resolve(from: string, specifier: string): string | null {
  return specifier.startsWith(".") ? posix.normalize(posix.join(posix.dirname(from), specifier)) : null;
}

const isOrUnder = (specifier: string, name: string) => specifier === name || specifier.startsWith(`${name}/`);

function packageRule(
  path: string,
  { specifier, typeOnly }: Import,
  shipped: ReadonlySet<string>,
): string | null {
  const side = path.split("/")[0];
  if (isOrUnder(specifier, "cothread")) return "source files name each other by relative path";
  if (isOrUnder(specifier, "better-sqlite3") && !(typeOnly ? SQLITE_TYPES : SQLITE).test(path))
    return "only server/store/sqlite.ts and its parts (sqlite-….ts) load better-sqlite3, others of server/store/ know its types, so that nothing else needs the native addon";
  if (path.startsWith("client/app/")) {
    if (/\.css$/.test(specifier) || APP_PACKAGES.test(specifier)) return null;
    if (APP_EDITOR_PACKAGES.test(specifier)) return null;
    if (path === "client/app/vite.config.ts" && APP_BUILD_PACKAGES.test(specifier)) return null;
    return "client/app imports client/react/index.ts, client/doc/index.ts, React, the packages for Markdown, diffs and the editor, styles and fonts only";
  }
  if (side !== "server" && isBuiltin(specifier))
    return `${side}/ runs in browsers and may not use Node's modules`;
  if (path.startsWith("client/react/") && !isOrUnder(specifier, "react"))
    return "client/react imports React and client/ only";
  if (side === "client" && !path.startsWith("client/doc/") && DOCUMENT_PACKAGES.test(specifier))
    return "only client/doc and client/app know Yjs: whoever needs no shared document does not load it";
  if (side === "client" && !path.startsWith("client/react/") && DOM_PACKAGES.test(specifier))
    return "the client outside client/react and client/app knows no React and no DOM package";
  if (side === "client" && !typeOnly && TYPES_ONLY_IN_CLIENT.some((name) => isOrUnder(specifier, name)))
    return `client/ may use ${specifier} as types only (\`import type\`)`;
  if (side === "shared" && !ISOMORPHIC.some((name) => isOrUnder(specifier, name)))
    return `shared/ runs in Node and in browsers; its packages are ${ISOMORPHIC.join(", ")} (table in test/rules/floors.ts)`;
  if (side === "server" && DOM_PACKAGES.test(specifier)) return "server/ knows no React and no DOM package";
  if (!typeOnly && !isBuiltin(specifier) && !shipped.has(packageName(specifier)))
    return `${packageName(specifier)} is not among the dependencies in package.json and would be missing where this package is installed`;
  return null;
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function fileRule(path: string, target: string): string | null {
  const from = path.split("/")[0]!;
  const to = target.split("/")[0]!;
  if (target === "package.json" && from === "server") return null;
  if (!["server", "client", "shared"].includes(to)) return "sources stay within server/, client/ and shared/";
  if (from === "shared")
    return to === "shared" ? null : `shared/ knows neither server/ nor client/; ${PICTURE}`;
  if (from === "client") return clientRule(path, target);
  if (to === "shared") return null;
  if (to === "client") return `server and client never meet; ${PICTURE}`;
  return serverRule(path, target);
}

function clientRule(path: string, target: string): string | null {
  if (target.startsWith("server/")) return `server and client never meet; ${PICTURE}`;
  const area = clientArea(path);
  const aim = clientArea(target);
  if (area === "app")
    return aim === "app" || target === "client/react/index.ts" || target === "client/doc/index.ts"
      ? null
      : "client/app is written against what is public: of the rest of client/ it imports client/react/index.ts and client/doc/index.ts only, never what is behind them";
  if (area === "react")
    return aim === "react" || aim === "core" ? null : "client/react imports React and client/ only";
  return aim === "core" || aim === "shared"
    ? null
    : `client/ below client/react and client/app knows neither of them; ${PICTURE}`;
}

function clientArea(path: string): "app" | "react" | "core" | "shared" {
  if (path.startsWith("shared/")) return "shared";
  if (path.startsWith("client/app/")) return "app";
  return path.startsWith("client/react/") ? "react" : "core";
}

function serverRule(path: string, target: string): string | null {
  const from = serverPlace(path);
  const to = serverPlace(target);
  for (const [file, place] of [
    [path, from],
    [target, to],
  ] as const)
    if (place.floor === -1) return `${file} stands on no floor; give its folder one in test/rules/floors.ts`;
  if (from.name === to.name || from.floor < to.floor) return null;
  if (from.floor > to.floor) return PICTURE;
  return `server/${from.name} and server/${to.name} stand on one floor and do not know each other; ${PICTURE}`;
}

/** A file directly in `server/` that has no floor of its own stands with `config`. */
function serverPlace(path: string): { name: string; floor: number } {
  const parts = path.split("/");
  const name = parts[1]!.replace(/\.tsx?$/, "");
  const floor = SERVER_FLOORS.findIndex((names) => names.includes(name));
  return floor === -1 && parts.length === 2 ? { name: "config", floor: 2 } : { name, floor };
}

/** How a file of `shared/` that the client loads drags in a package it must not: files, then the package. */
function heavyChain(
  file: string,
  modules: ReadonlyMap<string, ModuleSource>,
  seen: Set<string>,
): string[] | null {
  if (!file.startsWith("shared/") || seen.has(file)) return null;
  seen.add(file);
  for (const { specifier, typeOnly } of modules.get(file)?.imports ?? []) {
    if (typeOnly) continue;
    if (TYPES_ONLY_IN_CLIENT.some((name) => isOrUnder(specifier, name))) return [file, specifier];
    const target = resolve(file, specifier);
    const rest = target === null ? null : heavyChain(target, modules, seen);
    if (rest !== null) return [file, ...rest];
  }
  return null;
}

function globalBreaches(path: string, { globals }: ModuleSource): string[] {
  const side = path.split("/")[0];
  const banned = [
    ...(side !== "server" && path !== "client/app/vite.config.ts" ? NODE_GLOBALS : []),
    ...(side !== "client" ? DOM_GLOBALS : []),
  ];
  return banned
    .filter((name) => globals.has(name))
    .map(
      (name) =>
        `${path}:${globals.get(name)} uses \`${name}\`, which it does not declare: ${side}/ may not use ${NODE_GLOBALS.includes(name) ? "Node's" : "a browser's"} globals`,
    );
}
