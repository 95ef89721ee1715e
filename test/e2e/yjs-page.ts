import { IndexeddbPersistence } from "y-indexeddb";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { type DocOptions, openDoc } from "../../client/doc/index.ts";
import { createClient } from "../../client/index.ts";

/** What a page of a test holds: a document, and how its line is cut and mended. */
export type YjsPage = {
  readonly doc: Y.Doc;
  /** Whether everything the server had is here. */
  readonly synced: boolean;
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
    /** The same, and keeps it in this browser. */
    openKept(thread: string, name: string): void;
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
    get synced() {
      return provider.synced;
    },
    undo: new Y.UndoManager(doc.getText("draft")),
    ready: new Promise((resolve) => provider.once("sync", resolve)),
    cut: () => provider.disconnect(),
    mend: () => provider.connect(),
  };
};

window.openSdk = (thread, name) => openWith(thread, name);
window.openKept = (thread, name) => openWith(thread, name, { persist: IndexeddbPersistence });

function openWith(thread: string, name: string, options?: DocOptions): void {
  const client = createClient({ url: window.location.origin, user: { id: name, name } });
  const opened = openDoc(client.thread(thread), options);
  let WebSocketWas = window.WebSocket;
  window.yjsPage = {
    // Another one when the server has made it anew.
    get doc() {
      return opened.doc;
    },
    get synced() {
      return opened.synced;
    },
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
}
