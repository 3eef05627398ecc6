/** Brings the local snapshot of a shared store up to date, for hooks and packets. Sends this machine's changes first. */
import { pullWork } from "../../store/postgres/pull-work.ts";
import type { Server } from "../../store/postgres/server.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { forwardOutbox } from "./forward.ts";

/** How often to try, because hooks may write in between. */
const TRIES = 5;

/** False: events of this machine came in between at each try. The next process tries again. */
export async function refreshSnapshot(handle: StoreHandle, server: Server): Promise<boolean> {
  if (handle.isReadOnly) return false;
  for (let tries = 0; tries < TRIES; tries++) {
    await forwardOutbox(server, handle);
    if ((await pullWork(server, handle, new Date())).kind === "pulled") return true;
  }
  return false;
}
