import type { AgentRegistry } from "../agents/registry.ts";
import type { Room } from "./room.ts";

/** [W1] Tells who is here which agents have a run under way, and where these write. */
export function tellAgents(room: Room, registry: AgentRegistry): void {
  const { audience, timeline } = room;
  const names = new Map<string, string>();
  for (const { agent } of timeline.runs.all()) names.set(agent, registry.get(agent)?.name ?? agent);
  const caretOf = (agent: string) => {
    for (const run of room.timeline.runs.all()) {
      const { shared } = room.state;
      const place = run.agent === agent ? shared.places.of(run.runId) : undefined;
      const at = place ? shared.document.placeIn(place) : null;
      if (at) return { anchor: at, head: at };
    }
    return null;
  };
  audience.agentsAre(
    [...names].map(([id, name]) => ({ id, name })),
    caretOf,
  );
}
