/** Where a process number means one process. The hook bundles this file. */
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
