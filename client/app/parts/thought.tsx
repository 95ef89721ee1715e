import { words } from "../words.ts";
import { Folded } from "./folded.tsx";
import { Markdown } from "./markdown.tsx";

/** What an agent thought, as one line until somebody wants to read it. @param ms how long it took, if known */
export function Thought({
  text,
  streaming,
  ms,
}: {
  text: string;
  streaming: boolean;
  ms: number | undefined;
}) {
  const line = streaming ? words.work.thinking : words.work.thought(Math.round(Math.max(0, ms ?? 0) / 1_000));
  return (
    <Folded line={<span className={streaming ? "breathing" : undefined}>{line}</span>}>
      {() =>
        text === "" ? <p>{words.work.thoughtHidden}</p> : <Markdown text={text} streaming={streaming} />
      }
    </Folded>
  );
}
