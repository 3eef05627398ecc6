/** A store with many tasks: ready ones in epics and stories, or all of them waiting for one task. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inTransaction, type StoreHandle } from "../../packages/haversack/src/store/sqlite/access.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { createEpic, createStory } from "../../packages/haversack/src/store/sqlite/work/groups.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { createTask } from "../../packages/haversack/src/store/sqlite/work/tasks.ts";
import { PRIORITIES } from "../../packages/haversack/src/work/task.ts";

export interface WorkPool {
  handle: StoreHandle;
  store: SqliteWorkStore;
  epicId: string;
  storyId: string;
  /** The task that all others wait for, if they do. */
  firstId: string;
  remove(): void;
}

/** Few stories: at 1,000 tasks each has 50, more than a batch looks at. */
const STORIES = 20;
const STORIES_PER_EPIC = 4;

export function makeWorkPool(tasks: number, { isWaiting = false }: { isWaiting?: boolean } = {}): WorkPool {
  const folder = mkdtempSync(join(tmpdir(), "haversack-bench-work-"));
  const handle = openDatabase(join(folder, "haversack.db"), { durability: "full" });
  const ids = fillWork(handle, tasks, { isWaiting });
  return {
    handle,
    store: new SqliteWorkStore(handle),
    ...ids,
    remove: () => {
      handle.db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Uses the store's own operations in one transaction, because one commit each would take minutes. */
export function fillWork(
  { db }: StoreHandle,
  tasks: number,
  { isWaiting = false }: { isWaiting?: boolean } = {},
): { epicId: string; storyId: string; firstId: string } {
  return inTransaction(db, () => {
    const start = Date.parse("2031-01-01T00:00:00Z");
    const by = (number: number) => ({ name: "bench", at: new Date(start + number * 1000) });
    const stories: string[] = [];
    let epicId = "";
    for (let number = 0; number < STORIES; number++) {
      if (number % STORIES_PER_EPIC === 0) {
        const priority = PRIORITIES[(number / STORIES_PER_EPIC) % 4] ?? "P2";
        epicId = createEpic(db, { title: `Epic ${number}`, priority }, by(number)).id;
      }
      stories.push(createStory(db, { title: `Story ${number}`, epicId }, by(number)).id);
    }
    let firstId = "";
    for (let number = 0; number < tasks; number++) {
      const { id } = createTask(
        db,
        {
          title: `Task ${number}: what is to be done, in about as many words as people write`,
          description: `${"A description of some length, with what to look at and why. ".repeat(4)}${number}`,
          storyId: stories[number % STORIES] ?? "",
          priority: PRIORITIES[(number * 7) % 4] ?? "P2",
          files: [`src/part-${number % 997}/file-${number}.ts`, `src/part-${number % 997}/file-${number}.test.ts`],
          ...(isWaiting && firstId !== "" && { dependsOn: [firstId] }),
        },
        by(number),
      );
      if (number === 0) firstId = id;
    }
    return { epicId, storyId: stories[0] ?? "", firstId };
  });
}
