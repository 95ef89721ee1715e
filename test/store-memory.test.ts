import { expect, test } from "vitest";
import { openMemory } from "../server/store/memory.ts";
import { storeContract } from "./contract/store.ts";
import { commitAll, creation } from "./contract/store-batches.ts";

storeContract("memory store", async () => ({ store: openMemory() }));

test("every memory store is one of its own", async () => {
  const key = { tenant: "default", thread: "launch" };
  const one = openMemory();
  await commitAll(one, [creation(key, 1)]);
  expect(one.name).toBe("memory:");
  expect(await openMemory().load(key)).toBeNull();
});
