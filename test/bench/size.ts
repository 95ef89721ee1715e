import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { againstBound, forInformation } from "./line.ts";
import { ROOT } from "./root.ts";
import type { Bench } from "./runner.ts";

/** What a page downloads that uses the browser SDK without React and without the shared document. */
export const size: Bench = async () => {
  const { outputFiles } = await build({
    entryPoints: [`${ROOT}client/index.ts`],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "silent",
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild gave no file.");
  const named = { bench: "size", unit: "KB" };
  return [
    againstBound({
      ...named,
      case: "client/index.ts, bundled, minified, gzip -9 (KB = 1,000 bytes)",
      values: [gzipSync(file.contents, { level: 9 }).length / 1000],
      atMost: 15,
    }),
    forInformation({ ...named, case: "the same without gzip", values: [file.contents.length / 1000] }),
  ];
};
