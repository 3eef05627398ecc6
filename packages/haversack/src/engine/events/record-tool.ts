/** What a tool call did, into the WIP of the agent's task or session, its files, and the skills it has. Loaded by the hook. */
import { findProjectRoot } from "../../base/project-root.ts";
import type { SessionKey } from "../../store/local-store.ts";
import type { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import type { SkillLookup } from "../../store/sqlite/skills/skill-index.ts";
import type { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import type { SessionTasks } from "../../store/sqlite/work/events/session-tasks.ts";
import { captureEvent, type ToolEvent } from "../../work/capture/capture.ts";
import { PATH_MAX_CHARS, safeStart } from "../../work/capture/output-text.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip, WipPatch } from "../../work/wip/wip.ts";

export interface ToolRecord {
  sessionId: string;
  agentId: string;
  client: string;
  cwd: string;
  tool: ToolEvent;
  /** The skill that the client's own tool loaded. */
  skill?: string;
  /** The call is noted as seen, with what it did. */
  toolUseId?: string;
}

export interface RecordToolParts {
  root: string;
  /** The folder that stands for the root in the linked worktree that the agent is in. */
  worktree?: string | undefined;
  index: SkillLookup;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
  /** The id of the call that started this sub-agent; undefined: not known, or not yet. */
  startedBy(): string | undefined;
  leaseMs(): number;
  now: Date;
}

export function recordTool(
  { sessionId, agentId, client, cwd, tool, skill, toolUseId }: ToolRecord,
  { root, worktree = root, index, ledger, state, tasks, startedBy, leaseMs, now }: RecordToolParts,
): void {
  const key = { sessionId, agentId };
  placeAgent(key, { tasks, startedBy, now });
  const tree = treeOf(tool, { root, worktree });
  const file = tool.path && !tool.isError ? relativePath(tool.path, tree) : undefined;
  const patch = placed(captureEvent({ ...tool, root: tree, cwd }), { root, tree });
  const merge = patch && ((current: Wip) => mergeWip(current, patch, { at: now }));
  state.recordTool({ ...key, client, cwd, at: now, file, merge, patch, leaseMs, toolUseId });

  const card = skill ? index.card(skill) : tool.tool === "read" && tool.path ? index.cardAt(tool.path) : undefined;
  if (!card || tool.isError) return;
  const { window, promptCount } = ledger.tracking(key);
  ledger.recordLoad({
    ...key,
    at: now,
    window,
    promptNumber: promptCount,
    skill: card.id,
    hash: card.hash,
    tokens: 0,
    by: skill ? "client" : "read",
  });
}

/** A sub-agent that was started for a task works on it from its first tool call on. */
function placeAgent(
  key: Required<SessionKey>,
  { tasks, startedBy, now }: Pick<RecordToolParts, "tasks" | "startedBy" | "now">,
): void {
  if (!tasks.isUnplaced(key)) return;
  const toolUseId = startedBy();
  if (toolUseId !== undefined) tasks.placeAgent(key, toolUseId, now);
}

/** The worktree of the project that a call has changed: its own, or the one that the file lies in. */
function treeOf({ path }: ToolEvent, { root, worktree }: { root: string; worktree: string }): string {
  if (!path?.startsWith("/") || path.startsWith(`${worktree}/`)) return worktree;
  if (path.startsWith(`${root}/`)) return root;
  const found = findProjectRoot(path.slice(0, path.lastIndexOf("/")) || "/");
  return found.root === root ? (found.worktree ?? root) : worktree;
}

/** With what its files are relative to. */
function placed(patch: WipPatch | undefined, { root, tree }: { root: string; tree: string }): WipPatch | undefined {
  if (!patch?.files_modified && !patch?.$settled?.files) return patch;
  return { ...patch, $place: { root, ...(tree !== root && { worktree: tree }) } };
}

/** Inside the worktree relative to it, outside as it is. A path may hold a secret like any other text. */
function relativePath(path: string, root: string): string {
  return safeStart(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path, PATH_MAX_CHARS * 2);
}
