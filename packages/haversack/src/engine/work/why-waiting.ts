/** Why nothing in a scope can be started: what its first blocked and waiting tasks wait for. */
import type { Scope } from "../../store/work-store.ts";
import type { WorkParts } from "./work-parts.ts";

const SHOWN_TASKS = 3;
const REASON_CHARS = 200;

/** One text per task: `T12 "Log in": waits for T7 "Sessions" (todo)`. */
export async function whyWaiting(scope: Scope, { store, by: { at } }: Pick<WorkParts, "store" | "by">) {
  const blocked = await store.listTasks({ ...scope, status: "blocked", limit: SHOWN_TASKS, at });
  const waiting = await store.listTasks({ ...scope, status: "todo", limit: SHOWN_TASKS, at });
  return Promise.all(
    [...blocked.items, ...waiting.items].map(async ({ id, title }) => {
      const { blockers, waitsFor } = await store.getTask(id, at);
      const others = waitsFor.slice(0, SHOWN_TASKS).map((one) => `${one.id} "${one.title}" (${one.status})`);
      const why =
        blockers[0]?.reason.slice(0, REASON_CHARS) ?? (others.length > 0 ? `waits for ${others.join(", ")}` : "");
      return `${id} "${title}"${why === "" ? "" : `: ${why}`}`;
    }),
  );
}
