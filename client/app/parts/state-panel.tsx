import { useEffect, useId, useRef, useState } from "react";
import type { Thread } from "../../react/index.ts";
import { useLostDocument } from "../lost-document.ts";
import { readPlan } from "../plan.ts";
import { hasState, useSharedState } from "../shared-state.ts";
import { useThreadContext } from "../thread-context.ts";
import { documentOf } from "../use-document.ts";
import type { Tab, usePanel } from "../use-panel.ts";
import { words } from "../words.ts";
import { DataTab } from "./data-tab.tsx";
import { DocumentTab } from "./document-tab.tsx";
import { Icon } from "./icons.tsx";
import { PlanTab } from "./plan-tab.tsx";
import { StockSwitch, StockView } from "./stock-view.tsx";

/** What there is to show of a state; nothing of an empty one. */
export function tabsOf(state: Parameters<typeof readPlan>[0]): readonly Tab[] {
  if (!hasState(state)) return [];
  return [
    ...(readPlan(state) ? ["plan" as const] : []),
    ...(documentOf(state) === undefined ? [] : ["document" as const]),
    "data",
  ];
}

/** The tabs of a thread's state. */
export function useTabs(thread: Thread): readonly Tab[] {
  // As text, so that only another set of tabs is another value.
  const names = useSharedState(thread, (state) => tabsOf(state).join(" "));
  const tabs = names === "" ? [] : (names.split(" ") as Tab[]);
  const isLost = useLostDocument(thread) !== null;
  return isLost && !tabs.includes("document") ? [...tabs, "document"] : tabs;
}

const SHOWN: Record<Tab, () => React.ReactNode> = { plan: PlanTab, document: DocumentTab, data: DataTab };

/** The state beside the conversation. */
export function StatePanel({ tabs, panel }: { tabs: readonly Tab[]; panel: ReturnType<typeof usePanel> }) {
  const { thread } = useThreadContext();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const { tab, narrow, setTab, setOpen } = panel;
  const [stock, setStock] = useState(false);
  // What lies over the page is where one is.
  const wasNarrow = useRef(narrow);
  useEffect(() => {
    if (wasNarrow.current) list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }, []);
  if (!tab) return null;
  const Shown = SHOWN[tab];
  const move = (by: number) => {
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (!next) return;
    setTab(next);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  };
  return (
    <>
      {narrow && (
        <button
          type="button"
          className="state-backdrop"
          aria-label={words.close}
          onClick={() => setOpen(false)}
        />
      )}
      <aside
        className={narrow ? "state state-over" : "state"}
        aria-label={words.state.panel}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !narrow || event.defaultPrevented) return;
          event.preventDefault();
          setOpen(false);
        }}
      >
        <div className="state-head">
          <div className="state-tabs" role="tablist" ref={list}>
            {tabs.map((each) => (
              <button
                key={each}
                type="button"
                role="tab"
                id={`${id}${each}`}
                data-tab={each}
                aria-selected={each === tab}
                aria-controls={`${id}panel`}
                tabIndex={each === tab ? 0 : -1}
                onClick={() => setTab(each)}
                onKeyDown={(event) => {
                  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                  if (by !== undefined) move(by);
                }}
              >
                {words.state.tabs[each]}
              </button>
            ))}
          </div>
          <button
            type="button"
            className="quiet square"
            aria-label={words.state.hide}
            onClick={() => setOpen(false)}
          >
            <Icon name="close" />
          </button>
        </div>
        <div className="state-body" role="tabpanel" id={`${id}panel`} aria-labelledby={`${id}${tab}`}>
          {stock ? <StockView tab={tab} /> : <Shown key={thread.id} />}
        </div>
        <StockSwitch on={stock} onChange={setStock} />
      </aside>
    </>
  );
}
