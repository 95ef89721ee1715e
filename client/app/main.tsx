import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/inter/wght-italic.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/shell.css";
import "./style/conversation.css";
import "./style/markdown.css";
import "./style/desk.css";
import "./style/question.css";
import "./style/state.css";
import "./style/editor.css";
import "./style/over.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App, keepJoin } from "./app.tsx";
import { Crash } from "./crash.tsx";
import { becomeSomeoneElse } from "./identity.ts";
import { readRoute, threadHash } from "./route.ts";
import { followKeyboard } from "./viewport.ts";

takeFromAddress();
followKeyboard();

const root = document.getElementById("app");
if (root)
  createRoot(root).render(
    <StrictMode>
      <Crash>
        {/* The server is where the page came from, whatever path that is. */}
        <App server={new URL(".", window.location.href).href} />
      </Crash>
    </StrictMode>,
  );

/** A join code, or somebody to be, is taken from the address once; neither stays where it can be seen. */
function takeFromAddress() {
  const url = new URL(window.location.href);
  const { join, thread } = readRoute(url.hash);
  const as = url.searchParams.get("as");
  if (join === null && as === null) return;
  if (join) keepJoin(join);
  if (as !== null) becomeSomeoneElse(as === "new" ? "" : as, url.searchParams.get("id") ?? undefined);
  url.searchParams.delete("as");
  url.searchParams.delete("id");
  url.hash = thread === null ? "" : threadHash(thread);
  window.history.replaceState(null, "", url);
}
