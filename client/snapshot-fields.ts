/**
 * Gives an object every field of a snapshot, read from the present snapshot each time.
 * @param now gives the present snapshot; fields that may be absent must be there as `undefined`
 * @param target gets the fields; its own are kept
 */
export function withSnapshotFields<S extends object, T extends object>(now: () => S, target: T): S & T {
  for (const name of Object.keys(now()) as (keyof S)[])
    if (!(name in target)) Object.defineProperty(target, name, { get: () => now()[name], enumerable: true });
  return target as S & T;
}
