import type { Progress } from "../progress.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

/** What an agent is busy with: a title, how far it is, and the things it goes through. */
export function Activity({ title, count, items }: Progress) {
  return (
    <section className="activity" aria-label={title}>
      <div className="activity-head">
        <span>{title}</span>
        {count && <span className="marginal">{words.work.progress(count.done, count.total)}</span>}
      </div>
      {count && (
        <progress className="bar" value={count.done} max={count.total} aria-label={title}>
          {words.work.progress(count.done, count.total)}
        </progress>
      )}
      {items.length > 0 && (
        <ul>
          {items.map((item, i) => (
            // An item is what stands at its place.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <li key={i} className={item.done ? "done" : undefined}>
              <span className="tick">{item.done && <Icon name="check" size={12} />}</span>
              {item.title}
              <span className="unseen">, {item.done ? words.work.itemDone : words.work.itemOpen}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
