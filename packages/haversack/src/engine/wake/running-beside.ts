/** Whether another session's client still runs, as far as that can be told from here. Loaded by the hook. */
import type { ClientProcess } from "../../store/local-store.ts";

/** A process of another machine or container cannot be asked for: undefined. */
export function runningBeside({
  process,
  isAlive,
}: {
  process: ClientProcess | undefined;
  isAlive(processId: number): boolean;
}): (other: ClientProcess) => boolean | undefined {
  return ({ id, space }) => (space !== "" && space === process?.space ? isAlive(id) : undefined);
}
