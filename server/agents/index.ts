/** Agents that come with the server, and the types of those you write. */
export type {
  Agent,
  AgentContext,
  AgentEvent,
  AgentFunction,
  AgentObject,
  AgentOptions,
  EventSource,
} from "./agent.ts";
export { type DemoOptions, demoAgent } from "./demo.ts";
export { type EchoOptions, echoAgent } from "./echo.ts";
