import { useEffect, useRef } from "react";
import type { FrontendTool } from "../index.ts";
import { type ThreadLike, threadOf } from "./use-thread.ts";

/**
 * Executes a tool for the agents of a thread while the component is there. The handler of the last render counts;
 * the tool is registered anew when its name, description or parameters change.
 */
export function useFrontendTool(thread: ThreadLike, tool: FrontendTool): void {
  const latest = useRef(tool);
  useEffect(() => {
    latest.current = tool;
  });
  const source = threadOf(thread);
  const { name, description, parameters } = tool;
  // Parameters are often written where the component is rendered: what they say counts, not which object they are.
  const shape = parameters && !("~standard" in parameters) ? JSON.stringify(parameters) : parameters;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see `shape`
  useEffect(
    () =>
      source.tools.register({
        name,
        ...(description !== undefined && { description }),
        ...(parameters && { parameters }),
        handler: (args, call) => latest.current.handler(args, call),
      }),
    [source, name, description, shape],
  );
}
