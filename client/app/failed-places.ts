import type { MessageView, Thread } from "../react/index.ts";

/** Message id → id of the message it was written behind; `undefined` at the beginning of a thread. */
export type Places = Map<string, string | undefined>;

const placesOf = new WeakMap<Thread, Places>();

/** Where the messages that did not arrive yet were written. They are kept while the thread is. */
export function writtenPlaces(thread: Thread, views: readonly MessageView[]): Places {
  const places = placesOf.get(thread) ?? new Map();
  placesOf.set(thread, places);
  const arrived = views.findLast(({ about }) => !about.pending)?.message.id;
  for (const { message, about } of views)
    if (about.pending && !places.has(message.id)) places.set(message.id, arrived);
  return places;
}

/**
 * Messages that will not arrive stand where they were written, so that what is said later stands below them.
 * What may still arrive stays at the end.
 */
export function withFailedInPlace(views: readonly MessageView[], places: Places): readonly MessageView[] {
  const failed = views.filter(({ about }) => about.pending?.state === "failed");
  if (failed.length === 0) return views;
  const rest = views.filter((view) => !failed.includes(view));
  const known = new Set(rest.map(({ message }) => message.id));
  const placeOf = ({ message }: MessageView) => {
    const place = places.get(message.id);
    // What stood before it may not be loaded any more, or was taken away.
    return place !== undefined && known.has(place) ? place : undefined;
  };
  const first = failed.filter((view) => placeOf(view) === undefined);
  return [
    ...first,
    ...rest.flatMap((view) => [view, ...failed.filter((each) => placeOf(each) === view.message.id)]),
  ];
}
