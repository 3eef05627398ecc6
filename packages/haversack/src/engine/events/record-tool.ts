/** Records a tool call: in the WIP of the agent's task or session, its files, and its skills. */
import { findProjectRoot } from "../../base/project-root.ts";
import type { SessionKey } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { SessionTasks } from "../../store/sqlite/work/events/session-tasks.ts";
import { captureEvent, type ToolEvent } from "../../work/capture/capture.ts";
import { PATH_MAX_CHARS, safeStart } from "../../work/capture/output-text.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip, WipPatch } from "../../work/wip/wip.ts";
import { givenName } from "../work/actor.ts";
import type { EventBase, ToolCall } from "./client-event.ts";
import { type EventProject, leaseMs, storesOf } from "./event-project.ts";

/** A call of a client's tool that is recorded. */
export type RecordedCall = EventBase & ToolCall & { tool: ToolEvent };

export function recordTool({ tool, skill, toolUseId, ...event }: RecordedCall, project: EventProject): void {
  const { root, handle, now, isServer } = project;
  const { sessionId, agentId, client, cwd } = event;
  const { index, ledger, state, tasks } = storesOf(handle);
  placeAgent(event, { tasks, now });
  const tree = treeOf(tool, { root, worktree: project.worktree(cwd) ?? root });
  const file = tool.path && !tool.isError ? relativePath(tool.path, tree) : undefined;
  const patch = placed(captureEvent({ ...tool, root: tree, cwd }), { root, tree });
  state.recordTool({
    sessionId,
    agentId,
    client: client.name,
    cwd,
    name: givenName(project.env) || undefined,
    at: now,
    file,
    merge: patch && ((current: Wip) => mergeWip(current, patch, { at: now })),
    patch,
    leaseMs: () => leaseMs(project),
    // Marked as seen together with its effects. Only a server may miss calls.
    toolUseId: isServer ? toolUseId : undefined,
  });

  const card = skill ? index.card(skill) : tool.tool === "read" && tool.path ? index.cardAt(tool.path) : undefined;
  if (!card || tool.isError) return;
  const { window, promptCount: promptNumber } = ledger.tracking(event);
  const load = { sessionId, agentId, at: now, window, promptNumber, by: skill ? "client" : "read" } as const;
  ledger.recordLoad({ ...load, skill: card.id, hash: card.hash, tokens: 0 });
}

/** A sub-agent that was started for a task works on it from its first tool call. */
export function placeAgent(
  { startedBy, ...key }: Required<SessionKey> & { startedBy?(): string | undefined },
  { tasks, now }: { tasks: SessionTasks; now: Date },
): void {
  if (!startedBy || !tasks.isUnplaced(key)) return;
  const toolUseId = startedBy();
  if (toolUseId !== undefined) tasks.placeAgent(key, toolUseId, now);
}

/** The worktree that a call changed: the session's, or the one that contains the file. */
function treeOf({ path }: ToolEvent, { root, worktree }: { root: string; worktree: string }): string {
  if (!path?.startsWith("/") || path.startsWith(`${worktree}/`)) return worktree;
  if (path.startsWith(`${root}/`)) return root;
  const found = findProjectRoot(path.slice(0, path.lastIndexOf("/")) || "/");
  return found.root === root ? (found.worktree ?? root) : worktree;
}

/** Adds the folder that the patch's files are relative to. */
function placed(patch: WipPatch | undefined, { root, tree }: { root: string; tree: string }): WipPatch | undefined {
  if (!patch?.files_modified && !patch?.$settled?.files) return patch;
  return { ...patch, $place: { root, ...(tree !== root && { worktree: tree }) } };
}

/** Relative inside the worktree, unchanged outside. A path may contain a secret like any other text. */
function relativePath(path: string, root: string): string {
  return safeStart(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path, PATH_MAX_CHARS * 2);
}
