/** Brings the local snapshot of a shared store up to date, for hooks and packets. What this machine has changed is sent first. */
import { pullWork } from "../../store/postgres/pull-work.ts";
import type { Server } from "../../store/postgres/server.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { forwardOutbox } from "./forward.ts";

/** Hooks may write in between. */
const TRIES = 5;

/** False: events of this machine came in between each time. The next process tries again. */
export async function refreshSnapshot(handle: StoreHandle, server: Server): Promise<boolean> {
  if (handle.isReadOnly) return false;
  for (let tries = 0; tries < TRIES; tries++) {
    await forwardOutbox(server, handle);
    if ((await pullWork(server, handle, new Date())).kind === "pulled") return true;
  }
  return false;
}
