import { memo, useState } from "react";
import type { Json } from "../../react/index.ts";
import { useSharedState } from "../shared-state.ts";
import { useThreadContext } from "../thread-context.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

/** Characters of a string that are shown until one asks for more. */
const STRING = 200;
/** Members that are shown until one asks for more, and then each time. */
const MEMBERS = 100;

/** The whole state, as it is. */
export function DataTab() {
  const { thread } = useThreadContext();
  return <JsonView state={useSharedState(thread, (now) => now)} />;
}

/** A state as JSON that folds. */
export function JsonView({ state }: { state: Json }) {
  return (
    <div className="json">
      {isContainer(state) ? <Members value={state} depth={0} /> : <Scalar value={state} />}
    </div>
  );
}

type Container = Json[] | { [key: string]: Json };

const isContainer = (value: Json): value is Container => typeof value === "object" && value !== null;

function Members({ value, depth }: { value: Container; depth: number }) {
  const [most, setMost] = useState(MEMBERS);
  const members = Object.entries(value);
  const isList = Array.isArray(value);
  return (
    <ul>
      {members.slice(0, most).map(([key, child]) => (
        <Member key={isList ? memberKey(child, key) : key} name={key} value={child} depth={depth} />
      ))}
      {members.length > most && (
        <li>
          <button type="button" className="inline" onClick={() => setMost(most + MEMBERS)}>
            {words.state.more(Math.min(MEMBERS, members.length - most))}
          </button>
        </li>
      )}
    </ul>
  );
}

/** An element of a list stays the same one where it says who it is, and stands alone under that. */
function memberKey(value: Json, index: string): string {
  const id = isContainer(value) && !Array.isArray(value) ? value.id : undefined;
  return typeof id === "string" && id !== "" ? `id ${id}` : index;
}

const Member = memo(function Member({ name, value, depth }: { name: string; value: Json; depth: number }) {
  const [open, setOpen] = useState(depth < 1);
  if (!isContainer(value))
    return (
      <li>
        <span className="json-key">{name}</span> <Scalar value={value} />
      </li>
    );
  const count = Object.keys(value).length;
  return (
    <li>
      <button
        type="button"
        className="json-fold"
        aria-expanded={open}
        disabled={count === 0}
        onClick={() => setOpen(!open)}
      >
        <Icon name="chevron" size={12} />
        <span className="json-key">{name}</span>{" "}
        <span className="marginal">
          {Array.isArray(value) ? words.state.items(count) : words.state.fields(count)}
        </span>
      </button>
      {open && count > 0 && <Members value={value} depth={depth + 1} />}
    </li>
  );
});

function Scalar({ value }: { value: Json }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== "string") return <span className="json-value">{String(value)}</span>;
  const isCut = value.length > STRING && !whole;
  return (
    <span className="json-value json-string">
      {isCut ? `${value.slice(0, STRING)}… ` : value || "“”"}
      {isCut && (
        <button type="button" className="inline" onClick={() => setWhole(true)}>
          {words.state.whole}
        </button>
      )}
    </span>
  );
}
