/**
 * React hooks for Cothread. React 18 or newer; safe in StrictMode and in server rendering. Everything of
 * `cothread/client` is exported here too.
 *
 * ```tsx
 * <CothreadProvider url="https://host" user={{ name: "Ann" }}><Chat id="launch" /></CothreadProvider>
 *
 * function Chat({ id }: { id: string }) {
 *   const thread = useHeldThread(id);
 *   const ids = useMessageIds(thread);
 *   return ids.map((messageId) => <Line key={messageId} thread={thread} id={messageId} />);
 * }
 * ```
 */

export * from "../index.ts";
export { createPlainState, type PlainAndMerged, type PlainStateView } from "../plain-state.ts";
export { startsRun, type Trigger, triggerOf } from "../trigger.ts";
export { CothreadProvider, type CothreadProviderProps, useClient } from "./provider.ts";
export { useConnection } from "./use-connection.ts";
export { useFrontendTool } from "./use-frontend-tool.ts";
export { usePlainState } from "./use-plain-state.ts";
export {
  type ThreadLike,
  type ThreadView,
  useHeldThread,
  useInterrupts,
  useMessage,
  useMessageIds,
  useMessages,
  usePeople,
  useSharedState,
  useThread,
  useThreadValue,
} from "./use-thread.ts";
export { type ThreadsView, useThreads } from "./use-threads.ts";
