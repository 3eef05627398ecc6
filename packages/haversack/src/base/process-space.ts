/** Identifies the space in which a process ID is unique. */
import { readFileSync, readlinkSync } from "node:fs";

/** The PID namespace and the boot ID. "" if neither can be read, as on macOS. */
export function processSpace(): string {
  try {
    return `${readlinkSync("/proc/self/ns/pid")} ${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()}`;
  } catch {
    // Not Linux, or no /proc. Then no session is considered dead, and leases end by time.
    return "";
  }
}

// Ancestors of this process, nearest first. A client's hooks, its MCP server and its agents' shells all descend from the client's process,
// whatever wrappers are in between. Not for hooks: without `/proc` this starts a program.

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

/** Parse after the last ")", because the process name may contain anything. The fields there are the state and the parent. */
function parentOf(id: number): number | undefined {
  const stat = readFileSyncOrNone(`/proc/${id}/stat`);
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** For systems without `/proc`, such as macOS. Empty if `ps` is missing too; then only the direct parent is known. */
function listedParents(): Map<number, number> {
  // Loaded lazily: it costs 3 ms, and systems with /proc never need it.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync("ps", ["-axo", "pid=,ppid="], { encoding: "utf8", timeout: 2_000 });
  const rows = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return new Map(rows.flatMap(([id, parent]) => (id && parent ? [[id, parent] as const] : [])));
}

function readFileSyncOrNone(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // No /proc, or the process has ended.
    return undefined;
  }
}
