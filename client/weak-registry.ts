/**
 * Keeps one object per key for as long as somebody uses it; forgotten ones cost nothing.
 * @returns gives the object of a key, made when there is none
 */
export function createWeakRegistry<T extends object>(): (key: string, make: () => T) => T {
  const refs = new Map<string, WeakRef<T>>();
  const gone = new FinalizationRegistry<string>((key) => {
    // Another object may have taken the key since.
    if (!refs.get(key)?.deref()) refs.delete(key);
  });
  return (key, make) => {
    const known = refs.get(key)?.deref();
    if (known) return known;
    const fresh = make();
    refs.set(key, new WeakRef(fresh));
    gone.register(fresh, key);
    return fresh;
  };
}
