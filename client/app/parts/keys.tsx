import { type RefObject, useEffect } from "react";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

/** The keys one can press, over the page. */
export function Keys({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  useEffect(() => {
    const element = dialog.current;
    // A press beside it closes it.
    const outside = (event: MouseEvent) => {
      if (event.target === element) element?.close();
    };
    element?.addEventListener("click", outside);
    return () => element?.removeEventListener("click", outside);
  }, [dialog]);
  return (
    <dialog ref={dialog} className="keys" aria-labelledby="keys-title">
      <div className="keys-inside">
        <h2 id="keys-title">{words.keys.title}</h2>
        <button
          type="button"
          className="quiet square"
          aria-label={words.close}
          onClick={() => dialog.current?.close()}
        >
          <Icon name="close" />
        </button>
        <dl>
          {words.keys.rows.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                {keys
                  .split(" ")
                  .filter(Boolean)
                  .map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </dialog>
  );
}
