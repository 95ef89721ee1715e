import fc from "fast-check";

// A change is judged by the same cases each time: a rare fault that was there before must not look like its own.
// New cases are for `npm run test:soak`, or a seed of one's choice; a failing property prints its seed.
const seed = Number(process.env.COTHREAD_SEED) || (process.env.COTHREAD_SOAK ? undefined : 20_261_130);
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
