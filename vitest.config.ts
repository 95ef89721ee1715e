import { defineConfig } from "vitest/config";

/** A wait ends when what it waits for has come; how soon that is on a busy machine is no finding. */
const PATIENT = { poll: { timeout: 10_000 } };

// Three kinds: `rules` looks at the source tree, `main` runs code, `e2e` drives a browser.
export default defineConfig({
  test: {
    // The runner would leave one of two cores to itself; files of unit tests run beside each other well.
    maxWorkers: 2,
    reporters: ["default", "./test/kit/summary-reporter.ts"],
    projects: [
      // They read and parse the whole tree, which takes seconds on a busy machine.
      { test: { name: "rules", include: ["test/rules/*.test.ts"], testTimeout: 60_000 } },
      {
        test: {
          name: "main",
          include: ["test/*.test.{ts,tsx}", "test/fuzz/*.test.ts"],
          testTimeout: 20_000,
          expect: PATIENT,
          globalSetup: ["./test/kit/build.ts"],
          setupFiles: ["./test/kit/fixed-seed.ts"],
          env: { SUPPRESS_TRANSFORMATION_WARNINGS: "true" },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/*.test.ts"],
          globalSetup: "./test/kit/chromium.ts",
          testTimeout: 120_000,
          expect: PATIENT,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
