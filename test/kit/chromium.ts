import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";

/** Names the browser to use, in place of looking for one. */
const CHOICE = "COTHREAD_CHROMIUM";
/** Tells the processes of one test run why there is none, so that they do not all try to install it. */
const REASON = "COTHREAD_NO_CHROMIUM";
const INSTALL_LIMIT_MS = 240_000;
const PROBE_LIMIT_MS = 20_000;

/** The browser to drive, or the reason why there is none, as one line for the name of a skipped test. */
export type Chromium = { path: string } | { skip: string };

let found: Promise<Chromium> | undefined;

/**
 * Finds a Chromium or Chrome: the one that `COTHREAD_CHROMIUM` names, one of the system, one that Playwright
 * downloaded before. Where there is none, installs Debian's, if this is Debian and we are root.
 */
export function chromium(): Promise<Chromium> {
  found ??= find();
  return found;
}

/** Vitest's global setup of the browser tests: finds or installs the browser once, before any of them starts. */
export async function setup(): Promise<void> {
  const result = await chromium();
  if ("path" in result) process.env[CHOICE] = result.path;
  else process.env[REASON] = result.skip;
}

/**
 * Starts the browser that {@link chromium} finds; close it when done.
 *
 * @param skip called with the reason when there is none: a test's `skip`. Without it that is an error
 */
export async function openBrowser(skip?: (reason: string) => never): Promise<Browser> {
  const result = await chromium();
  if ("skip" in result) {
    if (skip !== undefined) return skip(result.skip);
    throw new Error(result.skip);
  }
  const playwright = await import("playwright-core");
  return playwright.chromium.launch({
    executablePath: result.path,
    args: [
      // Containers give no user namespaces; the pages are our own.
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

async function find(): Promise<Chromium> {
  const choice = process.env[CHOICE];
  if (choice)
    return (await starts(choice))
      ? { path: choice }
      : { skip: `${CHOICE} names ${choice}, which does not start` };
  const reason = process.env[REASON];
  if (reason) return { skip: reason };
  for (const path of candidates()) if (await starts(path)) return { path };
  const missing = "no Chromium or Chrome on this machine";
  if (!isDebian() || process.getuid?.() !== 0)
    return { skip: `${missing}; install one or name it in ${CHOICE}` };
  return (
    (await installDebians()) ?? {
      skip: `${missing}, and apt-get could not install Debian's; name one in ${CHOICE}`,
    }
  );
}

function* candidates(): Generator<string> {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])
    for (const folder of ["/usr/bin", "/usr/local/bin", "/snap/bin"]) yield join(folder, name);
  yield "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  yield "/Applications/Chromium.app/Contents/MacOS/Chromium";
  const stores = [join(homedir(), ".cache/ms-playwright"), join(homedir(), "Library/Caches/ms-playwright")];
  for (const store of [process.env.PLAYWRIGHT_BROWSERS_PATH, ...stores]) {
    if (!store || !existsSync(store)) continue;
    // Newest first; the headless shell sorts behind the whole browser.
    const builds = readdirSync(store).filter((name) => name.startsWith("chromium"));
    builds.sort((a, b) => Number(a.includes("_")) - Number(b.includes("_")) || build(b) - build(a));
    for (const name of builds)
      for (const inside of readdirSync(join(store, name)).filter((folder) => folder.startsWith("chrome"))) {
        const folder = join(store, name, inside);
        yield join(folder, "chrome");
        yield join(folder, "headless_shell");
        yield join(folder, "chrome-headless-shell");
        yield join(folder, "Chromium.app/Contents/MacOS/Chromium");
      }
  }
}

const build = (name: string) => Number(/\d+$/.exec(name)?.[0] ?? 0);

/** A name alone proves nothing: on some systems it is a script that asks for a package manager. */
async function starts(path: string): Promise<boolean> {
  return existsSync(path) && (await run(path, ["--version"], PROBE_LIMIT_MS)) === 0;
}

function isDebian(): boolean {
  const release = "/etc/os-release";
  return (
    existsSync("/usr/bin/apt-get") &&
    existsSync(release) &&
    /^ID="?debian"?$/m.test(readFileSync(release, "utf8"))
  );
}

async function installDebians(): Promise<Chromium | null> {
  const limit = INSTALL_LIMIT_MS / 1_000;
  console.error(`No Chromium here: installing Debian's with apt-get, for up to ${limit} s`);
  const started = Date.now();
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]]) {
    const left = Math.max(1, INSTALL_LIMIT_MS - (Date.now() - started));
    const options = ["-qq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"];
    const code = await run("apt-get", [...options, ...args], left);
    if (code !== 0) {
      console.error(`apt-get ${args[0]} ended with ${code}: going on without a browser`);
      return null;
    }
  }
  const seconds = Math.round((Date.now() - started) / 1_000);
  console.error(`Chromium is installed, after ${seconds} s`);
  return (await starts("/usr/bin/chromium")) ? { path: "/usr/bin/chromium" } : null;
}

/** Runs a program without showing what it says. Gives its exit code; `null` when it was ended or never began. */
function run(program: string, args: string[], limitMs: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: "ignore",
      timeout: limitMs,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    child.on("error", () => resolve(null));
    child.on("exit", resolve);
  });
}
