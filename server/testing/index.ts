/** Agents for the tests of applications: they do what real ones do, and what a script says. */
export {
  type LanggraphLikeOptions,
  langgraphLike,
  type ScriptRun,
} from "./langgraph-like.ts";
export { interrupt, patch, type ScriptStep, say, set, wait } from "./script.ts";
