import { type Thread, type Trigger, triggerOf, useThreadValue } from "../../react/index.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";

const TRIGGERS: readonly Trigger[] = ["always", "mention", "manual"];

/** When agents answer in a thread; whoever may write sets it, for all. */
export function TriggerMenu({ thread }: { thread: Thread }) {
  const trigger = useThreadValue(thread, triggerOf);
  const role = useThreadValue(thread, ({ role }) => role);
  if (role === undefined || role === "viewer") return null;
  return (
    <Menu
      label={words.talk.when}
      className="quiet square"
      items={TRIGGERS.map((each) => ({
        text: words.talk.trigger[each],
        chosen: each === trigger,
        // What did not work shows in that it did not change.
        onChoose: () => void thread.update({ settings: { trigger: each } }).catch(() => {}),
      }))}
    >
      <Icon name="dots" />
    </Menu>
  );
}
