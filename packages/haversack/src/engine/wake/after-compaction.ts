/**
 * The first thing a window hears after a compaction. Nothing comes twice: a skill that the client's own tool loaded is brought
 * back by the client, and what the prompt at hand was given survives when the compaction came before its first answer. Loaded
 * by the hook.
 */
import { gitPlace } from "../../base/git-place.ts";
import type { Session, TouchedSession } from "../../store/local-store.ts";
import { readStore } from "../../store/sqlite/access.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { SkillLedger, WindowEntry } from "../../store/sqlite/skills/skill-ledger.ts";
import { type SessionTasks, taskWip } from "../../store/sqlite/work/session-tasks.ts";
import type { Wip } from "../../work/wip.ts";
import type { SessionAnswer, StartedSession } from "../events/start-session.ts";
import type { WakeRequest } from "./gather-wake.ts";
import { showPacket } from "./show-packet.ts";
import type { SessionWakeParts } from "./wake-session.ts";
import { roleOfAgent } from "./wake-sub-agent.ts";

export interface CompactionStores {
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function afterCompaction(
  event: StartedSession,
  { before, session }: Required<TouchedSession>,
  parts: SessionWakeParts,
  { ledger, state, tasks }: CompactionStores,
): SessionAnswer {
  const { index, handle, now: at } = parts;
  const { sessionId, agentId, agentType = "", client, promptId } = event;
  const key = { sessionId, agentId };
  const bound = tasks.taskOf(key);
  const wip = bound ? undefined : state.wip(key);
  const workedAt = bound ? readStore(handle, (db) => taskWip(db, bound.seq)?.updatedAt) : wip?.updatedAt;

  const entries = ledger.window({ ...key, window: before.window });
  const isAtPrompt =
    promptId !== undefined && promptId === ledger.lastPromptId(key) && !hasWorkedSince(before, workedAt);
  const kept = KEPT_FILES[client.name];
  const areFilesKept = kept !== undefined && ledger.tracking(key).files.length <= kept.files;
  const isKeptFile = (hash: string | null) => areFilesKept && (index.body(hash ?? "")?.length ?? 0) <= kept.maxChars;
  const isCarried = ({ shownAtPrompt, loadedHash, loadedBy }: WindowEntry) =>
    loadedBy === "client" ||
    (loadedBy === "read" && isKeptFile(loadedHash)) ||
    (isAtPrompt && shownAtPrompt === before.promptCount);
  const carried = entries.filter(isCarried);

  const role = agentId ? roleOfAgent(agentType, parts) : undefined;
  const { branch } = agentId ? {} : gitPlace(event.cwd);
  const request: WakeRequest = {
    key: {
      ...key,
      client: client.name,
      ...(role !== undefined && { role }),
      ...(branch !== undefined && { branch }),
      heardSince: before.startedAt,
    },
    reason: "compact",
    client,
    ...(wip && { sessionWip: { wip: wip.data as Wip, updatedAt: new Date(wip.updatedAt) } }),
    active: entries.flatMap((entry) =>
      entry.loadedHash && !carried.includes(entry) ? [{ skill: entry.skill, hash: entry.loadedHash }] : [],
    ),
    isCarried: (id) => carried.some(({ skill, loadedHash }) => skill === id && loadedHash !== null),
  };
  return showPacket(request, parts, { ...key, at, event: "compaction", carried, session });
}

/**
 * Clients that bring files back that were read. Claude Code 2.1.325: five, of which one of 18,000 characters came and one of
 * 22,000 did not; which five of more cannot be foretold, and a skill that comes twice is better than one that is lost.
 */
const KEPT_FILES: Readonly<Record<string, { files: number; maxChars: number }>> = {
  "claude-code": { files: 5, maxChars: 15_000 },
};

/** Work after the last prompt: then the compaction came in the middle of a turn, and what that prompt was given is gone. */
function hasWorkedSince({ lastPromptAt }: Session, updatedAt: string | undefined): boolean {
  return updatedAt !== undefined && lastPromptAt !== undefined && Date.parse(updatedAt) > lastPromptAt.getTime();
}
