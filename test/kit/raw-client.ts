import WebSocket from "ws";
import { type DownFrame, type DownFrameOf, PROTOCOL, SUBPROTOCOL } from "../../shared/protocol/index.ts";

/** What a closed socket said. */
export type Closed = { code: number; bye: DownFrameOf<"bye"> | undefined };

/**
 * A socket without any SDK behind it, for tests that look at frames: it keeps what it got, and waits for
 * what should come.
 */
export class RawClient {
  readonly socket: WebSocket;
  readonly frames: DownFrame[] = [];
  readonly closed: Promise<Closed>;
  private readonly waiting: { test: (frame: DownFrame) => boolean; found: (frame: DownFrame) => void }[] = [];
  private taken = new Set<DownFrame>();
  private n = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("message", (data, binary) => {
      if (binary) return;
      const frame = JSON.parse(String(data)) as DownFrame;
      this.frames.push(frame);
      const index = this.waiting.findIndex(({ test }) => test(frame));
      if (index >= 0) {
        this.taken.add(frame);
        this.waiting.splice(index, 1)[0]?.found(frame);
      }
    });
    this.closed = new Promise((resolve) =>
      socket.on("close", (code) =>
        resolve({ code, bye: this.frames.find((frame) => frame.type === "bye") as Closed["bye"] }),
      ),
    );
  }

  /** Opens a socket; nothing is said yet. @param url http:// address of the server */
  static async open(url: string): Promise<RawClient> {
    const client = new RawClient(new WebSocket(`${url.replace(/^http/, "ws")}/v1/ws`, SUBPROTOCOL));
    await new Promise<void>((resolve, reject) => {
      client.socket.once("open", resolve);
      client.socket.once("error", reject);
    });
    return client;
  }

  /** Opens a socket and says hello. */
  static async hello(
    url: string,
    name = "Ana",
    id = name.toLowerCase(),
    client = `client-${id}`,
  ): Promise<RawClient> {
    const raw = await RawClient.open(url);
    raw.send({ type: "hello", v: PROTOCOL, client, user: { id, name } });
    await raw.next("welcome");
    return raw;
  }

  /** Sends anything: an object as JSON, text and bytes as they are. */
  send(frame: object | string | Uint8Array): void {
    this.socket.send(
      typeof frame === "string" || frame instanceof Uint8Array ? frame : JSON.stringify(frame),
    );
  }

  /** Sends a request and waits for its ack or reject. */
  async ask(frame: {
    type: string;
    [field: string]: unknown;
  }): Promise<DownFrameOf<"ack"> | DownFrameOf<"reject">> {
    this.n += 1;
    const ref = `r${this.n}`;
    this.send({ ref, ...frame });
    const answer = await this.find(
      (down) => (down.type === "ack" || down.type === "reject") && down.ref === (frame.ref ?? ref),
    );
    return answer as DownFrameOf<"ack"> | DownFrameOf<"reject">;
  }

  /** Joins a thread. @returns `joined` and the snapshot or entries behind it */
  async join(thread: string, more: object = {}) {
    this.n += 1;
    const ref = `r${this.n}`;
    this.send({ type: "join", ref, thread, create: true, ...more });
    const answer = await this.find(
      (down) => (down.type === "joined" || down.type === "reject") && down.ref === ref,
    );
    if (answer.type === "reject") return { joined: undefined, reject: answer, contents: undefined };
    // Live entries of an earlier join may lie around; what belongs to this one comes behind it.
    const position = this.frames.indexOf(answer);
    const contents = (await this.find(
      (down) =>
        (down.type === "snapshot" || down.type === "entries") &&
        down.thread === thread &&
        this.frames.indexOf(down) > position,
    )) as DownFrameOf<"snapshot"> | DownFrameOf<"entries">;
    return { joined: answer as DownFrameOf<"joined">, reject: undefined, contents };
  }

  /** The next frame of a type that nobody has waited for yet; comes when it is there. */
  next<T extends DownFrame["type"]>(type: T): Promise<DownFrameOf<T>> {
    return this.find((frame) => frame.type === type) as Promise<DownFrameOf<T>>;
  }

  /** The next frame that passes; one that came before counts unless it was found before. */
  find(test: (frame: DownFrame) => boolean): Promise<DownFrame> {
    const known = this.frames.find((frame) => !this.taken.has(frame) && test(frame));
    if (known) {
      this.taken.add(known);
      return Promise.resolve(known);
    }
    return new Promise((found) => this.waiting.push({ test, found }));
  }

  /** Waits until an entry that passes has come, in whatever frame. */
  async entry(test: (entry: DownFrameOf<"entries">["items"][number]) => boolean) {
    const seen = () =>
      this.frames
        .flatMap((frame) => (frame.type === "entries" ? frame.items : []))
        .find((entry) => test(entry));
    for (;;) {
      const entry = seen();
      if (entry) return entry;
      await new Promise<void>((found) =>
        this.waiting.push({ test: (frame) => frame.type === "entries", found: () => found() }),
      );
    }
  }

  close(): void {
    this.socket.close();
  }
}
