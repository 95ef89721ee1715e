// @vitest-environment jsdom
import { Activity, act, type ReactNode, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Client,
  CothreadProvider,
  type SocketConstructor,
  type Thread,
  useClient,
  useConnection,
  useHeldThread,
  useMessage,
  useMessageIds,
  useMessages,
  usePeople,
  useThread,
  useThreads,
  useThreadValue,
} from "../client/react/index.ts";
import type { FakeClock } from "./kit/fake-clock.ts";
import { type Scene, scene } from "./kit/scripted-client.ts";

let root: Root;
let host: HTMLElement;
let complaints: unknown[][];
const { error } = console;

beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  complaints = [];
  renders = {};
  console.error = (...args: unknown[]) => void complaints.push(args);
  host = document.createElement("div");
  root = createRoot(host);
});

afterEach(async () => {
  await act(async () => root.unmount());
  console.error = error;
  expect(complaints).toEqual([]);
});

const show = (node: ReactNode) => act(async () => root.render(node));
const text = () => host.textContent;

/** A scene whose frames are delivered inside React's `act`. */
function stage(options: Parameters<typeof scene>[0] = {}): Scene {
  const made = scene(options);
  return {
    ...made,
    settle: () => act(made.settle),
    pass: (ms) => act(() => made.pass(ms)),
  };
}

const inside = (client: Client, node: ReactNode) => (
  <CothreadProvider client={client}>{node}</CothreadProvider>
);

/** How often each component of the present test has rendered. */
let renders: Record<string, number> = {};
const count = (what: string) => {
  renders[what] = (renders[what] ?? 0) + 1;
};
let seen: Client | undefined;
let clockOfPill: FakeClock;

function Chat({ id }: { id: string }) {
  const { status, messages, title } = useThread(id);
  return `${status}:${title}:${messages.map(({ content }) => content).join(",")}`;
}

function CountedLine({ thread, id }: { thread: Thread; id: string }) {
  count(id);
  return <p>{String(useMessage(thread, id)?.message.content)}</p>;
}

function CountedTitle({ thread }: { thread: Thread }) {
  count("title");
  return useThreadValue(thread, ({ title }) => title);
}

function CountedList() {
  count("list");
  const thread = useHeldThread("a");
  return [
    <CountedTitle key="title" thread={thread} />,
    ...useMessageIds(thread).map((id) => <CountedLine key={id} thread={thread} id={id} />),
  ];
}

function StateLine({ thread, id }: { thread: Thread; id: string }) {
  const view = useMessage(thread, id);
  return <p>{`${view?.message.content} ${view?.about.pending?.state ?? "there"}`}</p>;
}

function StateList() {
  const thread = useHeldThread("a");
  return useMessageIds(thread).map((id) => <StateLine key={id} thread={thread} id={id} />);
}

const sameList = (a: string[], b: string[]) => a.join() === b.join();

function Roles() {
  count("roles");
  const thread = useHeldThread("a");
  return useThreadValue(thread, (now) => now.messages.map(({ role }) => role), sameList).join();
}

function FreshRoles() {
  count("fresh");
  const thread = useHeldThread("a");
  return useThreadValue(thread, (now) => now.messages.map(({ role }) => role)).join();
}

function Part() {
  const view = useThread("a");
  const people = usePeople(view);
  return `${useMessages(view.thread).length} ${people.map(({ user }) => user.name)}`;
}

function Threads({ text: query }: { text?: string }) {
  const { items, status } = useThreads({ archived: false, ...(query !== undefined && { text: query }) });
  return `${status} ${items.map(({ title }) => title)}`;
}

function Pill() {
  const { status, retryAt, unsent, user } = useConnection();
  const wait = retryAt === undefined ? "" : ` in ${retryAt - clockOfPill.now()}`;
  return `${status}${wait} unsent ${unsent} ${user?.name}`;
}

function Spy() {
  seen = useClient();
  return <Chat id="a" />;
}

function Hold({ id }: { id: string }) {
  useHeldThread(id);
  return null;
}

test("useThread joins, shows what is there, and follows", async () => {
  const { client, server, settle } = stage();
  const log = server.thread("a");
  log.message("m1", "one");
  await show(inside(client, <Chat id="a" />));
  expect(text()).toBe("loading::");
  await settle();
  expect(text()).toBe("live::one");
  await act(async () => {
    log.message("m2", "two");
    log.commit({ kind: "thread", title: "T" });
  });
  await settle();
  expect(text()).toBe("live:T:one,two");
});

test("StrictMode's double effects make one join and no leave", async () => {
  const { client, server, settle, pass } = stage();
  await show(<StrictMode>{inside(client, <Chat id="a" />)}</StrictMode>);
  await settle();
  await pass(10_000);
  expect(server.connections).toHaveLength(1);
  expect(server.last.got.map(({ type }) => type)).toEqual(["hello", "join"]);
  expect(text()).toBe("live::");
});

test("a thread is left a little after the last component that shows it is gone", async () => {
  const { client, server, settle, pass } = stage();
  await show(inside(client, [<Chat key="1" id="a" />, <Chat key="2" id="a" />]));
  await settle();
  await show(inside(client, [<Chat key="1" id="a" />]));
  await pass(10_000);
  expect(client.peek("a").status).toBe("live");
  await show(inside(client, null));
  await pass(1_000);
  expect(client.peek("a").status).toBe("live");
  await pass(1_000);
  expect(client.peek("a").status).toBe("idle");
  expect(server.last.got.at(-1)).toMatchObject({ type: "leave", thread: "a" });
});

test("switching threads back and forth shows only the right one", async () => {
  const { client, server, settle, pass } = stage();
  for (const id of ["a", "b"]) server.thread(id).message(`${id}1`, id);
  for (let i = 0; i < 6; i += 1) {
    const id = i % 2 ? "b" : "a";
    await show(inside(client, <Chat id={id} />));
    expect(text()?.split(":")[2]).not.toContain(i % 2 ? "a" : "b");
    if (i % 3 === 0) await settle();
    await act(async () => server.thread("a").message(`a-${i}`, "a"));
  }
  await settle();
  expect(text()).toBe("live::b");
  await pass(10_000);
  expect(client.peek("a").status).toBe("idle");
  expect(server.last.got.filter(({ type }) => type === "join")).toHaveLength(2);
});

test("only the message that streams renders anew", async () => {
  const { client, server, settle } = stage();
  const log = server.thread("a");
  log.message("m1", "question");
  await show(inside(client, <CountedList />));
  await settle();
  log.event("r", { type: "RUN_STARTED", threadId: "a", runId: "r" });
  log.event("r", { type: "TEXT_MESSAGE_START", messageId: "m2", role: "assistant" });
  await settle();
  const before = { ...renders };
  for (let i = 0; i < 20; i += 1) {
    log.event("r", { type: "TEXT_MESSAGE_CONTENT", messageId: "m2", delta: `${i % 10}` });
    log.event("r", { type: "STATE_SNAPSHOT", snapshot: { i } });
    await settle();
  }
  expect(host.querySelectorAll("p")[1]?.textContent).toBe("01234567890123456789");
  const { m2, ...others } = renders;
  const { m2: m2Before, ...othersBefore } = before;
  expect(m2! - m2Before!).toBe(20);
  expect(others).toEqual(othersBefore);
});

test("a sent message shows at once, keeps its place in the page, and its failure shows with a way out", async () => {
  const { client, server, settle, pass } = stage();
  await show(inside(client, <StateList />));
  await settle();
  const thread = client.peek("a");
  await act(async () => void thread.send("hi"));
  const line = host.querySelector("p");
  expect(line?.textContent).toBe("hi sending");
  await settle();
  expect(line?.textContent).toBe("hi there");
  expect(host.querySelector("p")).toBe(line);
  server.intercept = (frame, connection) => {
    if (frame.type !== "submit") return;
    connection.send({
      type: "reject",
      ref: frame.ref,
      code: "no_agent",
      message: "No such agent.",
      retry: false,
    });
    return true;
  };
  await act(async () => void thread.send("again", { agent: "nobody" }));
  await pass(1);
  expect(host.querySelectorAll("p")[1]?.textContent).toBe("again failed");
  server.intercept = null;
  await act(async () => void thread.view(thread.messageIds[1]!)?.about.pending?.retry());
  await settle();
  expect(host.querySelectorAll("p")[1]?.textContent).toBe("again there");
});

test("a value selected anew in each render does not loop, and equal values render nothing", async () => {
  const { client, server, settle } = stage();
  const log = server.thread("a");
  await show(inside(client, [<Roles key="1" />, <FreshRoles key="2" />]));
  await settle();
  log.message("m1", "x");
  await settle();
  expect(text()).toBe("useruser");
  expect(renders.fresh).toBeLessThan(10);
  const before = renders.roles;
  log.commit({ kind: "thread", title: "new" });
  await settle();
  expect(renders.roles).toBe(before);
});

test("useMessages and usePeople take the thread or what useThread gave", async () => {
  const { client, server, settle } = stage();
  const log = server.thread("a");
  log.message("m1", "one");
  log.people = [{ client: "x", user: { id: "u", name: "Bo" } }];
  await show(inside(client, <Part />));
  await settle();
  expect(text()).toBe("1 Bo");
});

test("useThreads follows a list; a query written inline is one watch", async () => {
  const { client, server, settle, pass } = stage();
  const info = (id: string, updatedAt: number, title = id) => ({
    ...{ id, title, agent: null, archived: false, createdAt: 0, updatedAt, lastMessage: "" },
    ...{ running: false, waiting: false, unread: 0, people: [] },
  });
  server.listed([info("a", 1), info("b", 2)]);
  await show(inside(client, <Threads />));
  await settle();
  expect(text()).toBe("live b,a");
  await act(async () => server.listed([info("a", 3, "A")], ["b"]));
  await settle();
  expect(text()).toBe("live A");
  expect(server.last.got.filter(({ type }) => type === "watch")).toHaveLength(1);
  await show(inside(client, <Threads text="x" />));
  await settle();
  await pass(5_000);
  expect(server.last.got.map(({ type }) => type).slice(-2)).toEqual(["watch", "unwatch"]);
});

test("useConnection tells where the connection is and what is unsent", async () => {
  const { client, server, settle, pass, clock } = stage({ random: () => 0.5 });
  clockOfPill = clock;
  await show(inside(client, [<Pill key="pill" />, <Hold key="hold" id="a" />]));
  expect(text()).toBe("connecting unsent 0 undefined");
  await settle();
  expect(text()).toBe("live unsent 0 Ann");
  await act(async () => {
    server.last.pair.cut();
    void client.peek("a").send("hi");
  });
  expect(text()).toBe("reconnecting in 250 unsent 1 Ann");
  await pass(250);
  expect(text()).toBe("live unsent 0 Ann");
});

test("the provider makes a client of its own, renames it, and closes it when it is gone", async () => {
  const { server, clock, settle, pass } = stage();
  let token = "one";
  const app = (name: string, url = "http://server.test") => (
    <StrictMode>
      <CothreadProvider
        url={url}
        user={{ name }}
        token={() => token}
        clock={clock}
        WebSocket={server.net.WebSocket as SocketConstructor}
      >
        <Spy />
      </CothreadProvider>
    </StrictMode>
  );
  await show(app("Ann"));
  await settle();
  await pass(10_000);
  expect(server.connections).toHaveLength(1);
  expect(server.last.got[0]).toMatchObject({ token: "one", user: { name: "Ann" } });
  const first = seen;
  token = "two";
  await show(app("Anna"));
  await settle();
  expect(seen).toBe(first);
  expect(server.last.got[0]).toMatchObject({ token: "two", user: { name: "Anna" } });
  await show(app("Anna", "http://other.test"));
  await settle();
  expect(seen).not.toBe(first);
  expect(server.net.last.client.url).toBe("ws://other.test/v1/ws");
  await pass(1_999);
  expect(first?.status).toBe("live");
  await pass(1);
  expect(first?.status).toBe("closed");
  expect(seen?.status).toBe("live");
  await show(null);
  await pass(2_000);
  expect(seen?.status).toBe("closed");
  expect(server.connections.every(({ pair }) => pair.server.closed)).toBe(true);
  expect(clock.pending).toBe(0);
});

test("a part of the page that was hidden for long comes back with a client that works", async () => {
  const { server, clock, settle, pass } = stage();
  const app = (mode: "hidden" | "visible") => (
    <Activity mode={mode}>
      <CothreadProvider
        url="http://server.test"
        clock={clock}
        WebSocket={server.net.WebSocket as SocketConstructor}
      >
        <Spy />
      </CothreadProvider>
    </Activity>
  );
  await show(app("visible"));
  await settle();
  expect(seen?.status).toBe("live");
  await show(app("hidden"));
  await pass(10_000);
  expect(seen?.status).toBe("closed");
  await show(app("visible"));
  await settle();
  expect(seen?.status).toBe("live");
  expect(text()).toBe("live::");
  expect(server.connections).toHaveLength(2);
});

test("a client that was given is not closed by the provider", async () => {
  const { client, settle, pass } = stage();
  await show(inside(client, <Chat id="a" />));
  await settle();
  await show(null);
  await pass(60_000);
  expect(client.status).toBe("live");
});

test("hooks without a provider say what is missing", () => {
  expect(() => renderToString(<Chat id="a" />)).toThrow(/no CothreadProvider/);
});
