/** Now, in ms, on the clock that all processes of this machine share and that nobody sets. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
