import { memo, useCallback, useRef, useState } from "react";
import { type Plan, readPlan, type Step, tick } from "../plan.ts";
import { refusedChange } from "../refused-change.ts";
import { changeState, useSharedState } from "../shared-state.ts";
import { useThreadContext } from "../thread-context.ts";
import { useChangeOfStep } from "../use-state-changes.ts";
import { words } from "../words.ts";
import { ChangedBy } from "./changed-by.tsx";
import { Icon } from "./icons.tsx";

/** The plan in the state, as a list that everybody can tick. */
export function PlanTab() {
  const { thread } = useThreadContext();
  const plan = useSharedState(thread, readPlanOnce);
  const [trouble, setTrouble] = useState<string | null>(null);
  const newest = useRef(plan);
  newest.current = plan;
  const onTick = useCallback(
    (key: string, isDone: boolean) => {
      const { current } = newest;
      const index = current?.steps.findIndex((step) => step.key === key) ?? -1;
      if (!current || index < 0) return;
      setTrouble(null);
      changeState(thread, tick(current, index, isDone)).catch((error) => setTrouble(refusedChange(error)));
    },
    [thread],
  );
  if (!plan) return null;
  const done = plan.steps.filter(({ status }) => status === "done").length;
  return (
    <section className="plan">
      <header className="plan-head">
        {plan.title && <h2>{plan.title}</h2>}
        <span className="marginal">{words.state.progress(done, plan.steps.length)}</span>
        <progress value={done} max={plan.steps.length} aria-hidden="true" />
      </header>
      <ul>
        {plan.steps.map(({ key, text, status }) => (
          <StepLine key={key} id={key} text={text} status={status} onTick={onTick} />
        ))}
      </ul>
      {trouble && <p role="alert">{trouble}</p>}
    </section>
  );
}

const plans = new WeakMap<object, Plan | null>();

/** The same plan for the same state, so that nobody sees a change where there is none. */
function readPlanOnce(state: Parameters<typeof readPlan>[0]): Plan | null {
  if (typeof state !== "object" || state === null) return null;
  const known = plans.get(state);
  if (known !== undefined) return known;
  const plan = readPlan(state);
  plans.set(state, plan);
  return plan;
}

type Line = {
  id: string;
  text: string;
  status: Step["status"];
  onTick: (key: string, isDone: boolean) => void;
};

const StepLine = memo(function StepLine({ id, text, status, onTick }: Line) {
  const { changes } = useThreadContext();
  const changed = useChangeOfStep(changes, id);
  return (
    <li className={`step step-${status}`}>
      <label>
        <span className="step-box">
          <input
            type="checkbox"
            checked={status === "done"}
            onChange={(event) => onTick(id, event.currentTarget.checked)}
          />
          {status === "done" && <Icon name="check" size={12} />}
        </span>
        <span className="step-text">
          {text}
          {status === "active" && <span className="unseen">{`, ${words.state.active}`}</span>}
        </span>
      </label>
      <ChangedBy changed={changed} />
    </li>
  );
});
