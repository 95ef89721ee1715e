/** When what is said in a thread starts a run: the rule that the server goes by ([S6]). */
export { startsRun, type Trigger, triggerOf } from "../shared/trigger.ts";
