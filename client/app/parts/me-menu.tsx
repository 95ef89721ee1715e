import { useConnection } from "../../react/index.ts";
import { browserName } from "../identity.ts";
import { peopleColours } from "../thread-context.ts";
import { words } from "../words.ts";
import { PersonAvatar } from "./avatar.tsx";
import { Menu } from "./menu.tsx";

/** What the menu behind a person's own name can do. */
export type MeActions = { onRename: () => void; onSomeoneElse: () => void; onMyself: () => void };

/** Who this window is, and how to be somebody else in it. */
export function MeMenu({ name, other, ...actions }: { name: string; other: boolean } & MeActions) {
  const { user } = useConnection();
  const items = [
    { text: words.me.rename, onChoose: actions.onRename },
    { text: words.me.someoneElse, onChoose: actions.onSomeoneElse },
    ...(other ? [{ text: words.me.myself(browserName()), onChoose: actions.onMyself }] : []),
  ];
  return (
    <Menu label={words.me.menu(name)} className="quiet me" items={items}>
      <PersonAvatar name={name} colour={user ? peopleColours.guess(user.id) : "var(--ink3)"} />
      <span className="me-name">{name}</span>
      {other && <span className="marginal">{words.me.onlyHere}</span>}
    </Menu>
  );
}
