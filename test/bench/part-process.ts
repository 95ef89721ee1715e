import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { PartAnswer, PartRequest } from "./part-role.ts";

/** After so long a call is given up: something hangs. */
const CALL_MS = 300_000;

/** A part of a bench in a process of its own, started with the garbage collector exposed. */
export class PartProcess {
  private readonly role: string;
  private readonly child: ChildProcess;
  private readonly open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private readonly listeners = new Map<string, (data: never) => void>();
  private readonly gone: Promise<void>;
  private n = 0;
  private stopped = false;

  private constructor(role: string, profile: string | undefined) {
    this.role = role;
    this.child = fork(fileURLToPath(new URL("./part.js", import.meta.url)), [role], {
      execArgv: [
        "--expose-gc",
        "--enable-source-maps",
        ...(profile ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : []),
      ],
      // Standard output is for figures only.
      stdio: ["ignore", 2, 2, "ipc"],
      env: { ...process.env, SUPPRESS_TRANSFORMATION_WARNINGS: "true" },
    });
    this.child.on("message", (answer: PartAnswer) => this.take(answer));
    this.gone = new Promise((resolve) => this.child.once("exit", () => resolve()));
    void this.gone.then(() => {
      const error = new Error(`The process of ${role} ended by itself.`);
      for (const { reject } of this.open.values()) reject(error);
      this.open.clear();
    });
  }

  /**
   * Starts a part and waits until it takes calls.
   * @param profile folder for a CPU profile of it
   */
  static async start(role: string, profile?: string): Promise<PartProcess> {
    const part = new PartProcess(role, profile);
    await new Promise<void>((resolve, reject) => {
      part.on("ready", () => resolve());
      void part.gone.then(() => reject(new Error(`The process of ${role} did not start.`)));
    });
    return part;
  }

  /** Has the part do something. @throws Error with what it threw */
  call<T>(call: string, argument: unknown = null): Promise<T> {
    this.n += 1;
    const id = this.n;
    return new Promise<T>((resolve, reject) => {
      const late = setTimeout(() => {
        this.open.delete(id);
        reject(new Error(`${this.role} did not finish "${call}" in ${CALL_MS / 60_000} minutes.`));
      }, CALL_MS);
      this.open.set(id, {
        resolve: (value) => {
          clearTimeout(late);
          resolve(value as T);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      });
      this.child.send({ id, call, argument } satisfies PartRequest);
    });
  }

  /** Hears one kind of notice; there is one listener for each. */
  on<T>(notice: string, listener: (data: T) => void): void {
    this.listeners.set(notice, listener as (data: never) => void);
  }

  /** Ends the process and waits until it is gone. */
  async stop(): Promise<void> {
    if (!this.stopped) {
      this.stopped = true;
      if (this.child.connected) this.child.disconnect();
      const late = setTimeout(() => this.child.kill("SIGKILL"), 20_000);
      await this.gone;
      clearTimeout(late);
    }
  }

  private take(answer: PartAnswer): void {
    if ("notice" in answer) return this.listeners.get(answer.notice)?.(answer.data as never);
    const waiting = this.open.get(answer.id);
    this.open.delete(answer.id);
    if (answer.error === undefined) waiting?.resolve(answer.result);
    else waiting?.reject(new Error(`${this.role}: ${answer.error}`));
  }
}

/** Runs `work` with parts that are all stopped at its end, however it ends. */
export async function withParts<T>(
  work: (start: (role: string, profile?: string) => Promise<PartProcess>) => Promise<T>,
): Promise<T> {
  const parts: PartProcess[] = [];
  try {
    return await work(async (role, profile) => {
      const part = await PartProcess.start(role, profile);
      parts.push(part);
      return part;
    });
  } finally {
    await Promise.all(parts.map((part) => part.stop()));
  }
}
