import { useState } from "react";
import type { CothreadError } from "../../react/index.ts";
import { codeIn, readRefusal } from "../refusal.ts";
import { words } from "../words.ts";

type Props = {
  error: CothreadError | undefined;
  /** The join code that was tried. */
  join: string | null;
  /** Connects once more. */
  onAgain: () => void;
  /** Connects with this join code. */
  onCode: (code: string) => void;
};

/** What one sees when the server lets nobody in: why, and what to do. */
export function Refused({ error, join, onAgain, onCode }: Props) {
  const { kind, title, help } = readRefusal(error, join);
  return (
    <main className="page">
      <div className="card">
        <p className="page-app">{words.app}</p>
        <div className="card-why" role="alert">
          <h1>{title}</h1>
          <p>{help}</p>
        </div>
        {kind === "code" && (
          // The same code may be right by now.
          <CodeForm onCode={(code) => (code === join ? onAgain() : onCode(code))} />
        )}
        {kind === "replaced" && <Go text={words.refused.replaced.go} onClick={onAgain} />}
        {kind === "version" && (
          <Go text={words.refused.version.go} onClick={() => window.location.reload()} />
        )}
        {kind === "other" && <Go text={words.refused.again} onClick={onAgain} />}
        {error && (kind === "other" || kind === "version") && (
          <p className="marginal">{words.refused.said(error.message)}</p>
        )}
      </div>
    </main>
  );
}

function Go({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" className="primary" onClick={onClick}>
      {text}
    </button>
  );
}

function CodeForm({ onCode }: { onCode: (code: string) => void }) {
  const [code, setCode] = useState("");
  const clean = codeIn(code);
  return (
    <form
      className="field-row"
      onSubmit={(event) => {
        event.preventDefault();
        if (clean !== "") onCode(clean);
      }}
    >
      <input
        value={code}
        aria-label={words.refused.code.label}
        placeholder={words.refused.code.label}
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the page asks for nothing else
        autoFocus
        onChange={(event) => setCode(event.target.value)}
      />
      <button type="submit" className="primary" disabled={clean === ""}>
        {words.refused.code.go}
      </button>
    </form>
  );
}
