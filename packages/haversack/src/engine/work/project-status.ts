/** Where everything stands, in numbers. */
import type { TaskCounts } from "../../store/work-store.ts";
import type { Claim } from "../../work/task.ts";
import { present, viewCounts } from "../../work/task-view.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface ProjectStatus {
  counts: TaskCounts;
  claims: Claim[];
  epics: number;
  stories: number;
  view: object;
}

export async function projectStatus(
  { epicId, storyId }: { epicId?: string | undefined; storyId?: string | undefined },
  { store, by }: WorkParts,
): Promise<ProjectStatus> {
  const counts = await store.countTasks(given({ epicId, storyId }), by.at);
  const claims = await store.listClaims({ at: by.at });
  const { total: epics } = await store.listEpics({ limit: 1 });
  const { total: stories } = await store.listStories({ ...given({ epicId }), limit: 1 });
  const { ready, archived, ...open } = counts;
  const all = Object.values(open).reduce((sum, count) => sum + count, 0);
  const view = present({
    // Zero says something here: nothing can be started.
    tasks: { ...viewCounts(counts), ready: counts.ready },
    done_percent: all > 0 ? Math.floor((100 * counts.done) / all) : undefined,
    epics: epics || undefined,
    stories: stories || undefined,
    claims: claims.length || undefined,
  });
  return { counts, claims, epics, stories, view };
}
