/**
 * The client's own process: Claude Code names it to its hooks (seen in 2.1.325: the process that was started, not the shell
 * around the hook). The hook bundles this file.
 */
import { readFileSync } from "node:fs";
import { processSpace } from "../../base/process-space.ts";
import type { ClientProcess } from "../../store/local-store.ts";

export function claudeProcess(env: Readonly<Record<string, string | undefined>>): ClientProcess | undefined {
  return clientProcess(Number(env["CLAUDE_PID"]));
}

/** Of a client whose process number is known otherwise: a hook's parent, where the shell between them gave its place to the hook. */
export function clientProcess(id: number): ClientProcess | undefined {
  return Number.isInteger(id) && id > 1 ? { id, space: processSpace() } : undefined;
}

/** One that belongs to somebody else is alive too; one that has ended, and whose parent has not asked for it yet, is not. */
export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  return !hasEnded(processId);
}

/** In a container nobody may ever ask for it. The state stands behind the name, which may hold anything. */
function hasEnded(processId: number): boolean {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, "latin1");
    return stat[stat.lastIndexOf(")") + 2] === "Z";
  } catch {
    // Not Linux, or gone in this moment.
    return false;
  }
}
