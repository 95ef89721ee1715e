import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { openDoc } from "../../client/doc/index.ts";
import { createClient } from "../../client/index.ts";

/** What a page of a test holds: a document, and how its line is cut and mended. */
export type YjsPage = {
  doc: Y.Doc;
  undo: Y.UndoManager;
  ready: Promise<unknown>;
  cut(): void;
  mend(): void;
};

declare global {
  interface Window {
    yjsPage: YjsPage;
    /** Opens the document by a stock provider, as its documentation says. */
    openStock(thread: string, name: string): void;
    /** Opens the document by the SDK. */
    openSdk(thread: string, name: string): void;
  }
}

window.openStock = (thread, name) => {
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(
    `${window.location.origin.replace("http", "ws")}/v1/yjs`,
    thread,
    doc,
    {
      params: { user: name, name },
      disableBc: true,
    },
  );
  window.yjsPage = {
    doc,
    undo: new Y.UndoManager(doc.getText("draft")),
    ready: new Promise((resolve) => provider.once("sync", resolve)),
    cut: () => provider.disconnect(),
    mend: () => provider.connect(),
  };
};

window.openSdk = (thread, name) => {
  const client = createClient({ url: window.location.origin, user: { id: name, name } });
  const opened = openDoc(client.thread(thread));
  const { doc } = opened;
  let WebSocketWas = window.WebSocket;
  window.yjsPage = {
    doc,
    undo: new Y.UndoManager(opened.draft),
    ready: opened.ready,
    // A network that is gone: the socket breaks, and no new one can be made.
    cut() {
      WebSocketWas = window.WebSocket;
      window.WebSocket = class {
        constructor() {
          throw new TypeError("There is no network.");
        }
      } as never;
      client.reconnect();
    },
    mend() {
      window.WebSocket = WebSocketWas;
      client.reconnect();
    },
  };
};
