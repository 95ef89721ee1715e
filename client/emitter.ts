/** Listeners by the name of what they listen to; `E` maps each name to the listener's arguments. */
export interface Emitter<E extends Record<keyof E, unknown[]>> {
  /** Adds a listener; the returned function takes it away again. */
  on<K extends keyof E>(name: K, listener: (...args: E[K]) => void): () => void;
  /** Calls the listeners. One that throws is reported and stops neither the others nor the caller. */
  emit<K extends keyof E>(name: K, ...args: E[K]): void;
}

/** Makes an {@link Emitter}. */
export function createEmitter<E extends Record<keyof E, unknown[]>>(): Emitter<E> {
  const byName: { [K in keyof E]?: Set<{ listener: (...args: E[K]) => void }> } = {};
  return {
    on(name, listener) {
      // A box of its own, so that a listener added twice is called twice and removed one by one.
      const box = { listener };
      const boxes = (byName[name] ?? new Set()).add(box);
      byName[name] = boxes;
      return () => void boxes.delete(box);
    },
    emit(name, ...args) {
      for (const { listener } of [...(byName[name] ?? [])]) {
        try {
          listener(...args);
        } catch (error) {
          const { reportError = console.error } = globalThis as { reportError?: (error: unknown) => void };
          reportError(error);
        }
      }
    },
  };
}
