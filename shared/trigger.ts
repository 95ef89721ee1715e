import type { Mention, Message, Role, ThreadSettings } from "./protocol/index.ts";

/** What makes an agent run; see [S6]. */
export type Trigger = NonNullable<ThreadSettings["trigger"]>;

/** What holds in a thread: what was set, else what its members make of it. Guests are no members. */
export function triggerOf(thread: {
  settings: ThreadSettings;
  members: Readonly<Record<string, Role>>;
}): Trigger {
  return thread.settings.trigger ?? (Object.keys(thread.members).length > 1 ? "mention" : "always");
}

/** The agent that messages mention first; `undefined` when they mention none. */
export function mentionedAgent(messages: readonly Message[]): string | undefined {
  const mentions = messages.flatMap(({ metadata }) => {
    const { mentions } = (metadata?.cothread ?? {}) as { mentions?: Mention[] };
    return mentions ?? [];
  });
  return mentions.find(({ kind }) => kind === "agent")?.id;
}

/** Whether what is submitted without a word about `start` starts a run. @param mentions whether it mentions an agent */
export function startsRun(trigger: Trigger, mentions: boolean): boolean {
  return trigger === "always" || (trigger === "mention" && mentions);
}
