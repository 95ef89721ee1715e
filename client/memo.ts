/** Gives the kept value while `of` is, item by item, what it was; else what `make` gives. */
export type Memo = <T>(of: readonly unknown[], make: (old: T | undefined) => T) => T;

/** Makes a {@link Memo}, which keeps one value. */
export function createMemo(): Memo {
  let last: readonly unknown[] | undefined;
  let value: unknown;
  return <T>(of: readonly unknown[], make: (old: T | undefined) => T) => {
    if (!last || of.some((item, i) => !Object.is(item, last?.[i]))) {
      value = make(value as T | undefined);
      last = of;
    }
    return value as T;
  };
}

/** `next`, or `old` when both hold the same items: so that nobody sees a change where there is none. */
export function sameItems<T>(old: readonly T[] | undefined, next: readonly T[]): readonly T[] {
  return old?.length === next.length && next.every((item, i) => Object.is(item, old[i])) ? old : next;
}

/** Whether two flat objects have the same fields with the same values. */
export function sameFields(a: object, b: object): boolean {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return left.length === right.length && left.every(([key, value]) => Object.is(value, b[key as never]));
}
