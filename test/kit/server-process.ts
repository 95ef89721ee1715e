import { type ChildProcess, spawn } from "node:child_process";
import { CLI } from "./build.ts";

/** A server in a process of its own, as users start it. */
export type ServerProcess = {
  url: string;
  pid: number;
  /** kill -9, as a crash or an impatient operator does; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit status. */
  stop(): Promise<number | null>;
};

/**
 * Starts `cothread serve` and waits until it says that it listens.
 * @param flags beside `--port`; a port of its own choice unless one is given
 * @throws Error with what the process printed when it ends before
 */
export async function startServer(flags: string[], port = 0): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [CLI, "serve", "--port", String(port), "--log-level", "silent", ...flags],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = await listening(child, gone);
  return {
    url,
    pid: child.pid as number,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async stop() {
      child.kill("SIGTERM");
      return gone;
    },
  };
}

function listening(child: ChildProcess, gone: Promise<number | null>): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    const look = (data: Buffer) => {
      printed += data;
      const url = /listening on (\S+)/.exec(printed)?.[1];
      if (url) resolve(url);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    void gone.then((status) => reject(new Error(`the server ended with status ${status}: ${printed}`)));
  });
}
