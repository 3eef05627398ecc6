/** Claims and work in progress in the store of a scratch repository, as the built program left them. */
import { join } from "node:path";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";

interface Held {
  agent: string;
  sessionId?: string;
  agentId?: string;
}

/** By task. */
export async function claimsOf({ root }: { root: string }): Promise<Record<string, Held>> {
  return inWork(root, async (store) => {
    const claims = await store.listClaims({ at: new Date() });
    return Object.fromEntries(
      claims.map(({ taskId, agent, sessionId, agentId }) => [
        taskId,
        { agent, ...(sessionId && { sessionId }), ...(agentId && { agentId }) },
      ]),
    );
  });
}

export async function taskWip(
  { root }: { root: string },
  taskId: string,
): Promise<Record<string, unknown> | undefined> {
  return inWork(root, async (store) => (await store.getTask(taskId, new Date())).wip as Record<string, unknown>);
}

async function inWork<T>(root: string, use: (store: SqliteWorkStore) => Promise<T>): Promise<T> {
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal", busyMs: 5_000 });
  try {
    return await use(new SqliteWorkStore(handle));
  } finally {
    handle.db.close();
  }
}
