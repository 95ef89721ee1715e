import { useState } from "react";
import { CothreadProvider } from "../react/index.ts";
import { becomeMyself, becomeSomeoneElse, nameMe, readMe } from "./identity.ts";
import { Door } from "./parts/door.tsx";
import { NamePrompt } from "./parts/name-prompt.tsx";
import { Shell } from "./parts/shell.tsx";
import { keep, kept } from "./storage.ts";
import { words } from "./words.ts";

const JOIN = "join";

/** The join code this window came with. */
export function readJoin(): string | null {
  return kept("window", JOIN);
}

/** Keeps a join code for as long as this window is open. */
export function keepJoin(code: string): void {
  keep("window", JOIN, code);
}

/** The whole app: asks who is there, then connects as them. */
export function App({ server }: { server: string }) {
  const [{ me, other }, setWho] = useState(readMe);
  const [renaming, setRenaming] = useState(false);
  const [join, setJoin] = useState(readJoin);
  const again = () => setWho(readMe());

  const onCode = (code: string) => {
    keepJoin(code);
    setJoin(code);
  };
  const token = join ? { token: () => join } : {};

  if (!me || renaming) {
    const prompt = (
      <NamePrompt
        name={me?.name ?? ""}
        other={other}
        renaming={renaming}
        onName={(name) => {
          nameMe(name);
          setRenaming(false);
          again();
        }}
        {...(renaming && { onCancel: () => setRenaming(false) })}
      />
    );
    if (me) return prompt;
    return (
      // It is in no thread, so nobody sees this name.
      <CothreadProvider
        key={`door ${join ?? ""}`}
        url={server}
        user={{ name: words.message.someone }}
        {...token}
      >
        <Door join={join} onCode={onCode}>
          {prompt}
        </Door>
      </CothreadProvider>
    );
  }
  return (
    // Somebody else has a connection of their own, and so has a window that found its code.
    <CothreadProvider key={`${me.id ?? ""} ${join ?? ""}`} url={server} user={me} {...token}>
      <Shell
        name={me.name}
        other={other}
        join={join}
        onCode={onCode}
        onRename={() => setRenaming(true)}
        onSomeoneElse={() => {
          becomeSomeoneElse();
          again();
        }}
        onMyself={() => {
          becomeMyself();
          again();
        }}
      />
    </CothreadProvider>
  );
}
