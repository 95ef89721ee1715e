const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * A number of bytes as people read it: `4 MiB`, `976.5 KiB`, `5000 bytes`. Rounded down, so that what is said
 * of a limit is true of it.
 */
export function byteSize(bytes: number): string {
  if (bytes < KIB || (bytes < 10 * KIB && bytes % KIB !== 0)) return `${bytes} bytes`;
  const [unit, name] = bytes < MIB ? [KIB, "KiB"] : [MIB, "MiB"];
  return `${Math.floor((bytes / unit) * 10) / 10} ${name}`;
}
