import { Rejection, type RoomRequest } from "./port.ts";

/** An id that was used for something else. */
export function conflict(frame: RoomRequest): Rejection {
  const id = frame.type === "submit" ? "inputId" : "key";
  return new Rejection("conflict", `This ${id} was used before for something else. Choose a new one.`);
}

/** Something this version does not have ([F6]). */
export function notYet(what: string): Rejection {
  return new Rejection("not_supported", `This server does not support ${what} yet.`);
}
