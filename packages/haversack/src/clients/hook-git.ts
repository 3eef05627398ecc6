/** Files that changed without a tool event, for hook.cjs: loaded when a turn, a sub-agent or a session ends, and after a compaction. */

import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import { noteGitChanges } from "../engine/work/note-git-changes.ts";
import type { HookBase } from "./hook-adapter.ts";
import type { HookPlace } from "./hook-place.ts";

export function noteChanges(base: HookBase, { adapter, handle, root, worktree, configFiles, now }: HookPlace): void {
  const leaseMs = () => readHookWorkSettings(configFiles()).leaseMs;
  const client = adapter?.client ?? "claude-code";
  noteGitChanges({ ...base, client }, { handle, root, worktree, leaseMs, now });
}
