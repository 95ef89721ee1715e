import { useMemo } from "react";
import { usePlainState } from "../../react/index.ts";
import { countLost, type FatedStep, fateOfDocument, fateOfPlan } from "../lost.ts";
import { useThreadContext } from "../thread-context.ts";
import type { Tab } from "../use-panel.ts";
import { words } from "../words.ts";
import { JsonView } from "./data-tab.tsx";
import { Icon } from "./icons.tsx";

/** The state as a client shows it that merges nothing, with what would have been lost. Nothing can be changed in it. */
export function StockView({ tab }: { tab: Tab }) {
  const { plainState } = useThreadContext();
  const { plain, merged } = usePlainState(plainState);
  return (
    <div className="stock">
      <p className="stock-about">{words.state.stock.about}</p>
      {tab === "plan" && <StockPlan plain={plain} merged={merged} />}
      {tab === "document" && <StockDocument plain={plain} merged={merged} />}
      {tab === "data" && <JsonView state={plain} />}
    </div>
  );
}

/** The switch between the state and {@link StockView}, and how much would have been lost. */
export function StockSwitch({ on, onChange }: { on: boolean; onChange: (on: boolean) => void }) {
  const { plainState } = useThreadContext();
  const { plain, merged } = usePlainState(plainState);
  const lost = useMemo(() => countLost(plain, merged), [plain, merged]);
  return (
    <footer className="state-foot">
      <label title={words.state.stock.about}>
        <input
          type="checkbox"
          role="switch"
          aria-checked={on}
          checked={on}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        {words.state.stock.name}
      </label>
      <span className={lost > 0 ? "stock-count stock-differs" : "stock-count"}>
        {words.state.stock.differs(lost)}
      </span>
    </footer>
  );
}

type Both = ReturnType<typeof usePlainState>;

function StockPlan({ plain, merged }: Both) {
  const plan = useMemo(() => fateOfPlan(plain, merged), [plain, merged]);
  if (!plan) return null;
  const shown = plan.steps.filter(({ fate }) => fate !== "lost").length;
  return (
    <section className="plan">
      <header className="plan-head">
        {plan.title && <h2>{plan.title}</h2>}
        <span className="marginal">{words.state.progress(plan.done, shown)}</span>
        <progress value={plan.done} max={Math.max(shown, 1)} aria-hidden="true" />
      </header>
      <ul>
        {plan.steps.map((step) => (
          <StockStep key={step.key} step={step} />
        ))}
      </ul>
    </section>
  );
}

function StockStep({ step }: { step: FatedStep }) {
  const { text, status, fate } = step;
  return (
    <li className={`step step-${status} fate-${fate}`}>
      <label className="stock-step">
        <span className="step-box">
          <input type="checkbox" checked={status === "done"} disabled />
          {status === "done" && <Icon name="check" size={12} />}
        </span>
        <span className="step-text">
          {fate === "lost" ? <del>{text}</del> : text}
          {fate !== "same" && <span className="fate">{fateWords(step)}</span>}
        </span>
      </label>
    </li>
  );
}

function fateWords({ fate, text, status, is }: FatedStep): string {
  const { stock } = words.state;
  if (fate === "lost" || fate === "back") return stock[fate];
  if (is && is.text !== text) return stock.text(is.text);
  if (is?.status === "done") return stock.unticked;
  return status === "done" ? stock.ticked : stock.status;
}

function StockDocument({ plain, merged }: Both) {
  const stretches = useMemo(() => fateOfDocument(plain, merged), [plain, merged]);
  if (!stretches) return null;
  // A text has its own order: what stands where is all that tells two stretches apart.
  return (
    <p className="stock-text">
      {stretches.map(({ text, fate }, i) => {
        const key = `${i} ${fate}`;
        if (fate === "lost") return <del key={key}>{text}</del>;
        return fate === "back" ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>;
      })}
    </p>
  );
}
