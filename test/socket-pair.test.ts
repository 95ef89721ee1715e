import { expect, test } from "vitest";
import { FakeClock } from "./kit/fake-clock.ts";
import { ABNORMAL, SocketNet, SocketPair } from "./kit/socket-pair.ts";

test("nothing arrives before it is flushed, then all in order", () => {
  const pair = new SocketPair("ws://x", ["p"]);
  const got: unknown[] = [];
  pair.client.onmessage = ({ data }) => got.push(data);
  pair.server.onmessage = (data) => got.push(`up ${data}`);
  expect(() => pair.client.send("early")).toThrow(/CONNECTING/);
  pair.accept();
  expect(pair.client.protocol).toBe("p");
  pair.client.send("1");
  pair.server.send("2");
  pair.server.send(new TextEncoder().encode("ä"));
  expect(got).toEqual([]);
  expect(pair.server.bufferedAmount).toBe(3);
  expect(pair.flushDown(1)).toBe(1);
  expect(got).toEqual(["2"]);
  pair.flush();
  expect(got).toEqual(["2", "up 1", "ä"]);
  expect(pair.server.bufferedAmount).toBe(0);
});

test("a close arrives behind what was sent before it, at both ends once", () => {
  const pair = new SocketPair();
  const seen: unknown[] = [];
  pair.accept();
  pair.client.onmessage = ({ data }) => seen.push(data);
  pair.client.onclose = ({ code, reason, wasClean }) => seen.push(["client", code, reason, wasClean]);
  pair.server.onclose = (code, reason) => seen.push(["server", code, reason]);
  pair.server.send("last");
  pair.server.close(4000, "shutdown");
  pair.flush();
  pair.cut();
  expect(seen).toEqual(["last", ["client", 4000, "shutdown", true], ["server", 4000, "shutdown"]]);
  expect(pair.client.readyState).toBe(3);
});

test("a cut loses what is under way and shows as 1006", () => {
  const pair = new SocketPair();
  const seen: unknown[] = [];
  pair.accept();
  pair.client.onclose = ({ code, wasClean }) => seen.push(code, wasClean);
  pair.server.onclose = (code) => seen.push(code);
  pair.client.onmessage = () => seen.push("lost");
  pair.server.send("x");
  pair.server.terminate();
  pair.flush();
  expect(seen).toEqual([ABNORMAL, false, ABNORMAL]);
});

test("binary frames arrive in the form the client asked for; pings are answered by the browser", () => {
  const pair = new SocketPair();
  const seen: unknown[] = [];
  pair.accept();
  pair.client.binaryType = "arraybuffer";
  pair.client.onmessage = ({ data }) => seen.push(data);
  pair.server.onpong = () => seen.push("pong");
  pair.server.sendBinary(new Uint8Array([1, 2]));
  pair.server.ping();
  pair.flush();
  expect(seen[0]).toBeInstanceOf(ArrayBuffer);
  expect(seen[1]).toBe("pong");
});

test("a net hands out the client's end to whoever dials, and a server may refuse", () => {
  const net = new SocketNet();
  const socket = new net.WebSocket("ws://x/v1/ws", ["a", "b"]);
  const seen: unknown[] = [];
  socket.onerror = () => seen.push("error");
  socket.onclose = ({ code }) => seen.push(code);
  expect(net.last.client).toBe(socket);
  expect(net.last.protocols).toEqual(["a", "b"]);
  net.last.refuse();
  expect(seen).toEqual(["error", ABNORMAL]);
});

test("an application may not close with a code of the protocol", () => {
  const pair = new SocketPair();
  pair.accept();
  expect(() => pair.client.close(1006)).toThrow(/1006/);
  pair.client.close(4003);
  pair.flush();
  expect(pair.server.closed).toEqual({ code: 4003, reason: "" });
});

test("a fake clock runs timers in order, shows each its own time, and runs those set meanwhile", () => {
  const clock = new FakeClock(1_000);
  const seen: unknown[] = [];
  clock.after(20, () => seen.push("b", clock.now()));
  clock.after(10, () => {
    seen.push("a", clock.now());
    clock.after(5, () => seen.push("a2", clock.now()));
  });
  clock.after(20, () => seen.push("c"));
  const off = clock.after(15, () => seen.push("never"));
  off();
  clock.advance(19);
  expect(seen).toEqual(["a", 1_010, "a2", 1_015]);
  expect(clock.next).toBe(1);
  clock.advance(1);
  expect(seen.slice(4)).toEqual(["b", 1_020, "c"]);
  expect(clock.pending).toBe(0);
  clock.after(5, () => seen.push("late", clock.now()));
  clock.sleep(100);
  clock.advance(0);
  expect(seen.slice(-2)).toEqual(["late", 1_120]);
});
