import { useCallback, useState } from "react";
import { type FrontendTool, type Thread, useFrontendTool } from "../react/index.ts";

/** A date that an agent wants of whoever sits in front of this window. */
export type DateRequest = {
  toolCallId: string;
  question: string | undefined;
  /** The first day that makes sense, as YYYY-MM-DD. */
  from: string | undefined;
  give: (date: string) => void;
  refuse: () => void;
};

const NAME = "pick_date";
const PARAMETERS = {
  type: "object",
  properties: {
    question: { type: "string", description: "What the date is for, as a question" },
    from: { type: "string", format: "date", description: "The first day that makes sense" },
  },
};

/**
 * Offers agents to have a person pick a date in this window.
 * @returns what is asked at the moment
 */
export function useDateTool(thread: Thread): readonly DateRequest[] {
  const [requests, setRequests] = useState<readonly DateRequest[]>([]);
  const handler = useCallback<FrontendTool["handler"]>(
    (args: { question?: unknown; from?: unknown }, { toolCallId, signal }) =>
      new Promise((resolve, reject) => {
        const over = () => setRequests((all) => all.filter((each) => each.toolCallId !== toolCallId));
        const request: DateRequest = {
          toolCallId,
          question: typeof args.question === "string" ? args.question : undefined,
          from: typeof args.from === "string" ? args.from : undefined,
          give(date) {
            over();
            resolve({ date });
          },
          refuse() {
            over();
            reject(new Error("The person did not want to pick a date."));
          },
        };
        signal.addEventListener("abort", () => {
          over();
          reject(new Error("The call was given up."));
        });
        setRequests((all) => [...all, request]);
      }),
    [],
  );
  useFrontendTool(thread, {
    name: NAME,
    description: "Lets a person in the conversation pick a date. The result is {date: YYYY-MM-DD}.",
    parameters: PARAMETERS,
    handler,
  });
  return requests;
}
