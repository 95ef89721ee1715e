import type { Thread } from "../../react/index.ts";
import { inviteHash } from "../route.ts";
import { words } from "../words.ts";

type Props = {
  thread: Thread;
  join: string | null;
  onAsk: (text: string) => void;
};

/** A thread in which nothing was said yet: three things to begin with. */
export function Start({ thread, join, onAsk }: Props) {
  const { start } = words;
  return (
    <section className="start">
      <h2>{start.title}</h2>
      <p>{start.help}</p>
      <div className="start-cards">
        <Ask title={start.plan} text={start.planText} onAsk={onAsk} />
        <Ask title={start.compare} text={start.compareText} onAsk={onAsk} />
        <a
          className="start-card"
          href={`?as=new${inviteHash(thread.id, join)}`}
          target="_blank"
          rel="noopener"
        >
          <b>{start.together}</b>
          <span>{start.togetherText}</span>
        </a>
      </div>
    </section>
  );
}

function Ask({ title, text, onAsk }: { title: string; text: string; onAsk: (text: string) => void }) {
  return (
    <button type="button" className="start-card" onClick={() => onAsk(text)}>
      <b>{title}</b>
      <span>{text}</span>
    </button>
  );
}
