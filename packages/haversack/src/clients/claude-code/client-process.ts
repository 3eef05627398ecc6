/**
 * The client's own process: Claude Code names it to its hooks (seen in 2.1.325: the process that was started, not the shell
 * around the hook). The hook bundles this file.
 */
import { readFileSync, readlinkSync } from "node:fs";
import type { ClientProcess } from "../../store/local-store.ts";

export function claudeProcess(env: Readonly<Record<string, string | undefined>>): ClientProcess | undefined {
  const id = Number(env["CLAUDE_PID"]);
  return Number.isInteger(id) && id > 1 ? { id, space: processSpace() } : undefined;
}

/** A number means a process only in one process name space, until the machine starts again. "" where that cannot be read. */
function processSpace(): string {
  try {
    return `${readlinkSync("/proc/self/ns/pid")} ${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()}`;
  } catch {
    // Not Linux, or no /proc here: then no session is taken for dead, and leases end by time.
    return "";
  }
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
