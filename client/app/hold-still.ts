import { createContext } from "react";

/** Tells the conversation that an element is about to change its size because somebody wants it to. */
export const HoldStill = createContext<(element: Element) => void>(() => {});
