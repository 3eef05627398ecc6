/**
 * Uncommitted changes of the last session in this work tree, if it had no task and has ended: one line for the next session, once.
 * It states facts only; the user decides what to do with the edits. Loaded by the hook.
 */
import { isSameFolder, workPlace } from "../../base/project-root.ts";
import { readStore, type StoreHandle, writeEvent } from "../../store/sqlite/access.ts";
import { type EditingSession, saveTold, untoldSessions, wipsOf } from "../../store/sqlite/sessions/session-state.ts";
import { clock } from "../../wake/packet-pieces.ts";
import { cutLine, listOf } from "../../wake/text.ts";
import { readGitState } from "../work/git-changes.ts";

export interface LeftEditsParts {
  handle: StoreHandle;
  /** Where process IDs are valid; see ClientProcess. */
  space: string;
  isAlive(processId: number, start?: number | null): boolean;
  now: Date;
}

/** "" when there is nothing to report. Each report is recorded and repeated only if that session continues. */
export function leftEdits(
  { sessionId, cwd, source }: { sessionId: string; cwd: string; source: string },
  { handle, space, isAlive, now }: LeftEditsParts,
): string {
  // The temporary copies of a locked store have no indexes, so this would be slow. The next start reports it.
  if (handle.standIn) return "";
  const untold = readStore(handle, (db) => untoldSessions(db, sessionId));
  if (untold.length === 0) return "";
  const { worktree } = workPlace(cwd);
  const over = untold.filter(
    (session) => isOver(session, { space, isAlive, now }) && isSameFolder(workPlace(session.cwd).worktree, worktree),
  );
  let line = "";
  let session = "";
  for (const one of over) {
    session = one.sessionId;
    const wips = readStore(handle, (db) => wipsOf(db, session));
    const files = wips.flatMap((wip) => listOf(wip["uncommitted_files"]).filter((file) => typeof file === "string"));
    line = lineOf(one, stillOpen([...new Set(files)], worktree), now);
    if (line) break;
  }
  // Mark the older sessions as reported too: only the latest work is of interest.
  const ids = over.map((one) => one.sessionId);
  if (ids.length === 0) return "";
  const because = { kind: "left" as const, tasks: [], session };
  const injection = { sessionId, at: now, event: source, format: "left", text: line, because };
  writeEvent(handle, "left-edits", saveTold, { ids, at: now, ...(line && { injection }) });
  return line;
}

/** A session whose process cannot be checked counts as over after this time without an event. */
const SILENT_MS = 60 * 60_000;

function isOver(
  { endedAt, id, start, lastSeenAt, ...its }: EditingSession,
  { space, isAlive, now }: Omit<LeftEditsParts, "handle">,
): boolean {
  if (endedAt !== null) return true;
  if (id !== null && space !== "" && its.space === space) return !isAlive(id, start);
  return now.getTime() - Date.parse(lastSeenAt) >= SILENT_MS;
}

/** Drops files that were committed or reverted since. If git does not answer, all files are kept. */
function stillOpen(files: readonly string[], worktree: string | undefined): readonly string[] {
  const state = files.length > 0 && worktree !== undefined ? readGitState(worktree) : undefined;
  return state ? files.filter((file) => Object.hasOwn(state.files, file)) : files;
}

const MOST_FILES = 5;

function lineOf({ client, endedAt, lastSeenAt }: EditingSession, files: readonly string[], now: Date): string {
  if (files.length === 0) return "";
  const shown = files.slice(0, MOST_FILES).map((file) => cutLine(file, 120));
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : "";
  const when = endedAt === null ? "was last seen" : "ended";
  const time = clock(new Date(endedAt ?? lastSeenAt), now);
  return `From Haversack: the last session here (${cutLine(client, 40)}) ${when} at ${time} UTC with edits that belong to no task and that it had not committed: ${shown.join(", ")}${more}.`;
}
