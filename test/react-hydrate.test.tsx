// @vitest-environment jsdom
import { act } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { CothreadProvider, useConnection, useMessageIds, useThread } from "../client/react/index.ts";
import { scene } from "./kit/scripted-client.ts";

function Page() {
  const { status } = useConnection();
  const thread = useThread("a");
  const ids = useMessageIds(thread);
  return <p>{`${status} ${thread.status} ${ids.length}`}</p>;
}

test("what a server rendered is taken over without a mismatch, then goes live", async () => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  const { client, server, settle } = scene();
  server.thread("a").message("m1", "one");
  const page = (
    <CothreadProvider client={client}>
      <Page />
    </CothreadProvider>
  );
  const host = document.createElement("div");
  host.innerHTML = renderToString(page);
  expect(host.textContent).toBe("connecting idle 0");
  // The client may be live before React takes the page over.
  client.thread("a");
  await settle();
  const complaints: unknown[] = [];
  const root = await act(async () =>
    hydrateRoot(host, page, { onRecoverableError: (e) => complaints.push(e) }),
  );
  await act(settle);
  expect(complaints).toEqual([]);
  expect(host.textContent).toBe("live live 1");
  await act(async () => root.unmount());
});
