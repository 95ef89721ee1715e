import { useEffect, useMemo, useState } from "react";
import { type ClientSnapshot, useConnection } from "../react/index.ts";

/** After so long a connection that lives on is believed, whatever the browser says of the network, ms. */
export const DOUBT_MS = 15_000;

/**
 * The connection as people should see it: offline from the moment the browser loses its network, and not only
 * when the silence was noticed. A server on this machine is there without a network too.
 */
export function useSeenConnection(): ClientSnapshot {
  const connection = useConnection();
  const [doubt, setDoubt] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      setDoubt(false);
    };
    const begin = () => {
      clearTimeout(timer);
      timer = setTimeout(end, DOUBT_MS);
      setDoubt(true);
    };
    window.addEventListener("offline", begin);
    window.addEventListener("online", end);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("offline", begin);
      window.removeEventListener("online", end);
    };
  }, []);
  return useMemo(
    () => (doubt && connection.status === "live" ? { ...connection, status: "offline" } : connection),
    [connection, doubt],
  );
}
