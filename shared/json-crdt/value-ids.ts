import type { Json } from "../protocol/agui.ts";
import { jsonEqual } from "./patch.ts";

/**
 * Gives each JSON value a number, the same one to equal values; the order of keys does not count. Serves to
 * compare many values with each other without looking into them each time.
 */
export class ValueIds {
  private readonly scalars = new Map<Json, number>();
  private readonly containers = new Map<number, { value: Json; id: number }[]>();
  private last = 0;

  /** @param value any JSON value, nested as deep as you like */
  of(value: Json): number {
    if (value === null || typeof value !== "object") return this.scalar(value);
    const hash = this.hash(value);
    const alike = this.containers.get(hash);
    const known = alike?.find((it) => jsonEqual(it.value, value));
    if (known !== undefined) return known.id;
    const made = { value, id: ++this.last };
    if (alike === undefined) this.containers.set(hash, [made]);
    else alike.push(made);
    return made.id;
  }

  private scalar(value: Json): number {
    let id = this.scalars.get(value);
    if (id === undefined) {
      id = ++this.last;
      this.scalars.set(value, id);
    }
    return id;
  }

  /** A sum over all that is inside, each with the path to it: the order in which it is seen does not matter. */
  private hash(value: Json): number {
    let sum = 0;
    const ahead: [Json, number][] = [[value, 1]];
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      const [at, path] = next;
      if (at === null || typeof at !== "object") sum = (sum + mix(path, this.scalar(at))) | 0;
      else if (Array.isArray(at)) {
        sum = (sum + mix(path, -1)) | 0;
        at.forEach((inner, i) => {
          ahead.push([inner, mix(path, -3 - i)]);
        });
      } else {
        sum = (sum + mix(path, -2)) | 0;
        for (const key of Object.keys(at)) ahead.push([at[key] as Json, mix(path, this.scalar(key))]);
      }
    }
    return sum;
  }
}

function mix(a: number, b: number): number {
  let x = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  return x ^ (x >>> 13);
}
