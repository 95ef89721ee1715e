import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

// The goal is 15 KB, which `npm run bench -- size` tells; this keeps it from drifting further away. Of what is in it,
// about 2 KB answers interrupts, changes the queue, executes tools, switches branches and marks what was read.
const LIMIT = 19.5 * 1024;

test(`all of cothread/client has at most ${LIMIT} bytes, minified and compressed`, async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: ["client/index.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  const size = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  expect(size).toBeLessThanOrEqual(LIMIT);
  // It must be all of it, and nothing but it.
  expect(size).toBeGreaterThan(LIMIT / 2);
  const foreign = Object.keys(metafile.inputs).filter((path) => !/^(client|shared)\//.test(path));
  expect(foreign).toEqual([]);
});
