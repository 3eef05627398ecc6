/** What a tool call did, for hook.cjs: the event that comes most often after a prompt, with the code that reads outputs. */
import { recordTool } from "../engine/record-tool.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SessionTasks } from "../store/sqlite/session-tasks.ts";
import { SkillCards } from "../store/sqlite/skill-cards.ts";
import { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import type { ClaudeBase } from "./claude-code/prompt-event.ts";
import { startedBy } from "./claude-code/started-by.ts";
import { readClaudeTool } from "./claude-code/tool-event.ts";
import type { HookPlace } from "./hook-place.ts";

export function recordToolEvent(
  payload: Record<string, unknown>,
  base: ClaudeBase,
  { root, worktree, handle, now, adapter, configFiles }: HookPlace,
): void {
  const { tool, skill } = adapter ? adapter.tool(payload, base.cwd) : readClaudeTool(payload);
  if (!tool) return;
  recordTool(
    { ...base, client: adapter?.client ?? "claude-code", tool, ...(skill && { skill }) },
    {
      root,
      worktree,
      index: new SkillCards(handle.db),
      ledger: new SkillLedger(handle),
      state: new SessionState(handle),
      tasks: new SessionTasks(handle),
      startedBy: () => (adapter ? undefined : startedBy(payload["transcript_path"], base.agentId)),
      leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
      now,
    },
  );
}
