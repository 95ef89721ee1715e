import { CATALOGUE } from "./catalogue.ts";
import { runBenches } from "./runner.ts";

// `npm run bench -- NAME… [--json] [--runs N] [--quick] [--profile FOLDER]`
process.exitCode = await runBenches(
  process.argv.slice(2),
  CATALOGUE,
  (line) => console.log(line),
  (line) => console.error(line),
);
