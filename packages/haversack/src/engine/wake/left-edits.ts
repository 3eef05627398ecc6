/**
 * What the last session in this work tree changed and did not commit, when it had no task and is over: one line for the next session,
 * once. Facts only: what is to be done with the edits is the user's to say. Loaded by the hook.
 */
import { isSameFolder, workPlace } from "../../base/git-place.ts";
import { readStore, writeEvent } from "../../store/sqlite/access.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { type EditingSession, saveTold, untoldSessions, wipsOf } from "../../store/sqlite/sessions/session-state.ts";
import { clock } from "../../wake/talk-pieces.ts";
import { cutLine, listOf } from "../../wake/text.ts";
import { readGitState } from "../work/git-changes.ts";

export interface LeftEditsParts {
  handle: StoreHandle;
  /** Where process numbers mean something here; see ClientProcess. */
  space: string;
  isAlive(processId: number, start?: number | null): boolean;
  now: Date;
}

/** "" when there is nothing to tell. What was told is noted: it is not told again unless that session goes on. */
export function leftEdits(
  { sessionId, cwd, source }: { sessionId: string; cwd: string; source: string },
  { handle, space, isAlive, now }: LeftEditsParts,
): string {
  // The copies that stand in for a locked store have no indexes. The next start tells it.
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
    line = lineOf(one, stillOpen(filesOf(readStore(handle, (db) => wipsOf(db, session))), worktree), now);
    if (line) break;
  }
  // Those that are older are not what was going on last.
  const ids = over.map((one) => one.sessionId);
  if (ids.length === 0) return "";
  const because = { kind: "left" as const, tasks: [], session };
  const injection = { sessionId, at: now, event: source, format: "left", text: line, because };
  writeEvent(handle, "left-edits", saveTold, { ids, at: now, ...(line && { injection }) });
  return line;
}

/** Of a session whose process cannot be asked for, silence has to tell. */
const SILENT_MS = 60 * 60_000;

function isOver(
  { endedAt, id, start, lastSeenAt, ...its }: EditingSession,
  { space, isAlive, now }: Omit<LeftEditsParts, "handle">,
): boolean {
  if (endedAt !== null) return true;
  if (id !== null && space !== "" && its.space === space) return !isAlive(id, start);
  return now.getTime() - Date.parse(lastSeenAt) >= SILENT_MS;
}

function filesOf(wips: readonly Record<string, unknown>[]): string[] {
  const files = wips.flatMap((wip) => listOf(wip["uncommitted_files"]).filter((file) => typeof file === "string"));
  return [...new Set(files)];
}

/** Somebody may have committed them, or taken them back. Without an answer from git they count as they were. */
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
