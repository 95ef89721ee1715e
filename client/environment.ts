type Target = {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
};
type Store = { getItem(key: string): string | null; setItem(key: string, value: string): void };
type Locks = {
  request(name: string, options: { ifAvailable: true }, run: (lock: unknown) => unknown): Promise<unknown>;
};

/** What a browser has and other places may lack. */
export type Environment = Target & {
  location?: { origin: string };
  navigator?: { onLine?: boolean; locks?: Locks };
  document?: Target & { visibilityState?: string };
  WebSocket?: unknown;
  localStorage?: Store;
  sessionStorage?: Store;
};

/** The surroundings; read anew at each use, so that importing this package touches nothing. */
export const environment = (): Environment => globalThis as unknown as Environment;

/** A browser's storage; `null` where there is none or where reading it is forbidden. */
export function storage(kind: "localStorage" | "sessionStorage"): Store | null {
  // Node may have an object of that name that warns when it is touched.
  if (!environment().document) return null;
  try {
    const store = environment()[kind];
    store?.getItem("");
    return store ?? null;
  } catch {
    return null;
  }
}

/**
 * Calls `wake` when the network is back or the page is seen again, `lost` when the network goes; does
 * nothing where there is no page.
 * @returns stops listening
 */
export function watchPage(wake: () => void, lost: () => void): () => void {
  const { document } = environment();
  const seen = () => {
    if (document?.visibilityState === "visible") wake();
  };
  const heard: [Target | undefined, string, () => void][] = document
    ? [
        [environment(), "online", wake],
        [environment(), "offline", lost],
        [document, "visibilitychange", seen],
      ]
    : [];
  for (const [target, type, listener] of heard) target?.addEventListener?.(type, listener);
  return () => {
    for (const [target, type, listener] of heard) target?.removeEventListener?.(type, listener);
  };
}
