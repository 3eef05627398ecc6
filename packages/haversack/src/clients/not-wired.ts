/** What `doctor` says of a client that is on the machine and has no hook of ours. */
import type { Finding } from "../engine/wiring.ts";

/** A choice, unless `init` had wired it: then what it wrote is gone. */
export function notWired(
  part: string,
  { what, remedy, wasWired }: { what: string; remedy: string; wasWired: boolean },
): Finding {
  return wasWired
    ? { part, level: "fail", text: `not wired any more: ${what}`, remedy, isSilencing: true }
    : { part, level: "ok", text: `not wired; ${remedy}`, isSilencing: true };
}
