import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** @returns bytes that values of this process take, within its heap and outside, once what nobody holds is given back */
export async function heapHeld(): Promise<number> {
  // What is held until a turn ends goes in the next one; what a finalizer held, with the collection behind it.
  for (let i = 0; i < 4; i += 1) {
    await turn();
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
