/**
 * The client's own process, which lives as long as its session. Claude Code names it to its hooks (seen in 2.1.325: the process
 * that was started, not the shell around the hook); for others it is the hook's parent. The hook bundles this file.
 */
import { readFileSync } from "node:fs";
import { processSpace } from "../../base/process-space.ts";
import type { ClientProcess } from "../../store/local-store.ts";

/** A version that does not name its process is found by name: anything else above the hook may end long before the session. */
export function claudeProcess(env: Readonly<Record<string, string | undefined>>): ClientProcess | undefined {
  return clientProcess(Number(env["CLAUDE_PID"])) ?? parentProcess(/^claude/);
}

/** The process above this one and above the shell that the client may have started it with. */
export function parentProcess(name?: RegExp): ClientProcess | undefined {
  const parent = readStat(process.ppid);
  const id = parent && SHELL.test(parent.name) ? parent.parent : process.ppid;
  return !name || name.test(readStat(id)?.name ?? "") ? clientProcess(id) : undefined;
}

const SHELL = /^(?:ba|da|z|a|k|fi)?sh$/;

export function clientProcess(id: number): ClientProcess | undefined {
  return Number.isInteger(id) && id > 1 ? { id, space: processSpace(), start: readStat(id)?.start } : undefined;
}

/**
 * One that belongs to somebody else is alive too; one that has ended, and whose parent has not asked for it yet, is not. `start`: one
 * that was started at another time is another process.
 */
export function isAlive(processId: number, start?: number | null): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const found = readStat(processId);
  // In a container nobody may ever ask for one that has ended.
  return found?.state !== "Z" && (!start || found === undefined || found.start === start);
}

interface Stat {
  name: string;
  state: string;
  parent: number;
  start: number;
}

/** Undefined: not Linux, or gone in this moment. */
function readStat(id: number): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    // The name may hold anything, also brackets.
    const end = stat.lastIndexOf(")");
    const fields = stat.slice(end + 2).split(" ");
    return {
      name: stat.slice(stat.indexOf("(") + 1, end),
      state: fields[0] ?? "",
      parent: Number(fields[1]),
      start: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
