import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a test run with one plain line, `N passed, N failed, N skipped`, after one line for each skipped test. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      // A file that does not load, a hook that throws: failures too, though no test carries them.
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") count[state] += 1;
        else {
          count.skipped += 1;
          skipped.push(skipLine(module, test));
        }
      }
    }
    if (skipped.length > 0) console.log(`\n${skipped.join("\n")}`);
    console.log(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}

function skipLine(module: TestModule, test: TestCase): string {
  const result = test.result();
  const why =
    result.state === "pending" ? "it was not reached" : result.state === "skipped" ? result.note : undefined;
  return `skipped: ${module.relativeModuleId} > ${test.fullName}${why === undefined ? "" : `: ${why}`}`;
}
