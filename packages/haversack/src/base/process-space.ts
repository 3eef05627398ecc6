/** Where a process number means one process. */
import { readFileSync, readlinkSync } from "node:fs";

/** The process name space and the machine's start. "" where neither can be read, as on a Mac. */
export function processSpace(): string {
  try {
    return `${readlinkSync("/proc/self/ns/pid")} ${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()}`;
  } catch {
    // Not Linux, or no /proc here: then no session is taken for dead, and leases end by time.
    return "";
  }
}

// The processes above this one, nearest first. A client's hooks, its MCP server and the shells of its agents all stand below the
// client's own process, whatever wrappers stand between. Not for hooks: without `/proc` it starts a program.

const MOST = 32;

export function processAncestors(): number[] {
  const parents = readFileSyncOrNone(`/proc/${process.pid}/stat`) === undefined ? listedParents() : undefined;
  const found: number[] = [];
  for (let id = process.ppid; id > 1 && found.length < MOST && !found.includes(id); ) {
    found.push(id);
    id = (parents ? parents.get(id) : parentOf(id)) ?? 0;
  }
  return found;
}

/** The fields stand behind the name, which may hold anything: state, then the parent. */
function parentOf(id: number): number | undefined {
  const stat = readFileSyncOrNone(`/proc/${id}/stat`);
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Where there is no `/proc`, as on a Mac. Empty where `ps` is missing too: then only the parent is known. */
function listedParents(): Map<number, number> {
  // Loaded here: it costs every command 3 ms, and where there is /proc none needs it.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync("ps", ["-axo", "pid=,ppid="], { encoding: "utf8", timeout: 2_000 });
  const rows = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return new Map(rows.flatMap(([id, parent]) => (id && parent ? [[id, parent] as const] : [])));
}

function readFileSyncOrNone(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // No /proc, or the process is gone.
    return undefined;
  }
}
