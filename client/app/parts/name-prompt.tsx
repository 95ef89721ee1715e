import { useState } from "react";
import { cleanName, NAME_MAX } from "../identity.ts";
import { words } from "../words.ts";

/** Asks who is there. @param other this window is to be somebody else than the browser */
export function NamePrompt(props: {
  name: string;
  other: boolean;
  renaming: boolean;
  onName: (name: string) => void;
  onCancel?: () => void;
}) {
  const { other, renaming, onName, onCancel } = props;
  const [name, setName] = useState(props.name);
  return (
    <main className="page">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (cleanName(name) !== "") onName(name);
        }}
      >
        <p className="page-app">{words.app}</p>
        <h1>{other ? words.name.titleOther : words.name.title}</h1>
        <label className="unseen" htmlFor="name">
          {words.name.label}
        </label>
        <div className="field-row">
          <input
            id="name"
            value={name}
            maxLength={NAME_MAX}
            autoComplete="given-name"
            placeholder={words.name.placeholder}
            // biome-ignore lint/a11y/noAutofocus: the page asks for nothing else
            autoFocus
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="primary" disabled={cleanName(name) === ""}>
            {renaming ? words.name.change : words.name.go}
          </button>
        </div>
        <p>{other ? words.name.whyOther : words.name.why}</p>
        {!other && !renaming && <p className="marginal">{words.name.hint}</p>}
        {onCancel && (
          <button type="button" className="quiet" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
      </form>
    </main>
  );
}
