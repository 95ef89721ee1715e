import { expect, test } from "vitest";
import { DEMO_THREAD, seedDemoThread } from "../server/demo-thread.ts";
import { TestRooms } from "./kit/server.ts";

test("the thread to play in is made once, by two people, and is left alone when it is there", async () => {
  const rooms = new TestRooms();
  await seedDemoThread(rooms.rooms);
  const ana = await rooms.join(DEMO_THREAD);
  const { catchUp, people } = ana.reply;
  if (catchUp.kind !== "snapshot") throw new Error("a newcomer gets a snapshot");
  const { state, messages, title, turns } = catchUp.snapshot;
  expect(title).toBe("Launch of the mobile app");
  expect(messages.map((message) => (message as { name?: string }).name)).toEqual(["Ana", "Ben"]);
  expect(new Set(turns.map(({ by }) => ("id" in by ? by.id : "")))).toEqual(
    new Set(["guest:demo-ana", "guest:demo-ben"]),
  );
  expect(state).toMatchObject({ document: expect.stringContaining("# Announcement") });
  // Whoever made it is not there.
  expect(people.all.map(({ user }) => user.name)).toEqual(["Ana"]);
  await seedDemoThread(rooms.rooms);
  const again = (await rooms.join(DEMO_THREAD, "Cy")).reply;
  expect(again.seq).toBe(ana.reply.seq);
});
