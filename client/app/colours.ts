/**
 * Colours of people: white text stands out on each, and each stands out on light and dark surfaces. The order
 * is the one in which they are given, neighbours far apart.
 */
export const PEOPLE_COLOURS = [
  "#c2447f",
  "#1f8277",
  "#a3611a",
  "#2f6fd0",
  "#8a55c8",
  "#4a7f24",
  "#c9483f",
  "#64748b",
] as const;

/** Colours of agents, held to the same. */
export const AGENT_COLOURS = ["#5b5bd6", "#0e7a8a", "#9a4f9c", "#84651b"] as const;

/** Where an id would stand among the colours if it were alone. */
export function preferredPlace(id: string, places: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % places;
}

/** Gives ids colours and keeps to them. */
export interface Palette {
  /** The colour of an id; the same one whenever it is asked for again. */
  of(id: string): string;
  /** The colour an id has, or would get if it came first; gives it nothing. */
  guess(id: string): string;
}

/**
 * Makes a {@link Palette}. Who comes first gets the colour of their id; who comes later and would get one that
 * is taken gets the next free one, so that windows in which people appear in the same order agree.
 */
export function createPalette(colours: readonly [string, ...string[]]): Palette {
  const given = new Map<string, string>();
  const users = new Map<string, number>();
  const usedBy = (colour: string) => users.get(colour) ?? 0;
  return {
    of(id) {
      const known = given.get(id);
      if (known) return known;
      const first = preferredPlace(id, colours.length);
      const around = colours.map((_, i) => colours[(first + i) % colours.length] as string);
      const rarest = Math.min(...around.map(usedBy));
      const colour = around.find((each) => usedBy(each) === rarest) as string;
      given.set(id, colour);
      users.set(colour, usedBy(colour) + 1);
      return colour;
    },
    guess: (id) => given.get(id) ?? (colours[preferredPlace(id, colours.length)] as string),
  };
}
