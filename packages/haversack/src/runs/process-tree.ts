/**
 * Finds and ends every process that a session started. Clients start shells in sessions of their own, which survive the client and its
 * process group (Gemini CLI and opencode always, Claude Code after SIGKILL). So they are found in two ways: by their parents, listed before
 * the client is signalled, and by a mark in their environment.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface FoundProcess {
  id: number;
  /** When it started: distinguishes it from a later process with the same id. */
  start: string;
}

interface Listed extends FoundProcess {
  parent: number;
}

/**
 * `roots`, all their descendants, and all processes whose environment has `mark` (`NAME=VALUE`; Linux only). Excludes this process. Parents
 * come before their children, so that a shell is signalled first: otherwise it prints how its command ended.
 */
export function findProcesses({ roots, mark }: { roots: readonly number[]; mark: string }): FoundProcess[] {
  const all = listProcesses();
  const children = new Map<number, Listed[]>();
  for (const one of all) {
    const known = children.get(one.parent);
    if (known) known.push(one);
    else children.set(one.parent, [one]);
  }
  const found = new Map<number, FoundProcess>(all.flatMap((one) => (roots.includes(one.id) ? [[one.id, one]] : [])));
  const waiting = [...roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const child of children.get(id) ?? []) {
      if (found.has(child.id)) continue;
      found.set(child.id, child);
      waiting.push(child.id);
    }
  }
  for (const one of all) if (hasMark(one.id, mark)) found.set(one.id, one);
  found.delete(process.pid);
  return [...found.values()].map(({ id, start }) => ({ id, start }));
}

/** Those of `processes` that still run. */
export function stillRunning(processes: readonly FoundProcess[]): FoundProcess[] {
  if (processes.length === 0) return [];
  const now = new Map(listProcesses().map(({ id, start }) => [id, start]));
  return processes.filter(({ id, start }) => now.get(id) === start);
}

export function signal(processes: readonly FoundProcess[], name: NodeJS.Signals): void {
  for (const { id } of stillRunning(processes)) {
    try {
      process.kill(id, name);
    } catch {
      // It has just ended, or belongs to another user.
    }
  }
}

function listProcesses(): Listed[] {
  const listed = listProc();
  return listed.length > 0 ? listed : listPs();
}

function listProc(): Listed[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readStat(Number(name)) : []));
  } catch {
    return [];
  }
}

function readStat(id: number): Listed[] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    // The process name may contain anything, including brackets.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie: it has ended, but its parent has not collected it yet.
    if (fields[0] === "Z") return [];
    return [{ id, parent: Number(fields[1]), start: fields[19] ?? "" }];
  } catch {
    // It has just ended.
    return [];
  }
}

function listPs(): Listed[] {
  try {
    const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], { encoding: "utf8", timeout: 5000 });
    return text.split("\n").flatMap((line) => {
      const [, id, parent, state, start] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
      return start === undefined || state?.startsWith("Z") ? [] : [{ id: Number(id), parent: Number(parent), start }];
    });
  } catch {
    return [];
  }
}

function hasMark(id: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${id}/environ`, "latin1")}`.includes(`\0${mark}\0`);
  } catch {
    // Not Linux, or another user's process.
    return false;
  }
}
