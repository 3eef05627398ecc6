/** What of Haversack works in Codex, and how; the docs show it. Seen in 0.166.0 (test/clients/codex). */
import type { Capability } from "../capability.ts";

export const CODEX: readonly Capability[] = [
  {
    what: "hooks without a step of the user's",
    works: "no",
    how: "Codex runs a hook only after the user has reviewed it in /hooks, and a project's hooks only in a trusted folder; until then it runs none and says nothing",
  },
  {
    what: "events without a process",
    works: "partly",
    how: "mcp_tool hooks for UserPromptSubmit and PostToolUse, from 0.166.0 on. The other events stay commands: Codex does not restart a server that crashed, and has no SessionEnd for servers",
  },
  { what: "text with a prompt", works: "yes", how: "UserPromptSubmit; a developer message right behind the prompt" },
  {
    what: "text at session start",
    works: "yes",
    how: "SessionStart with startup or resume; a developer message before the prompt",
  },
  {
    what: "text after a compaction",
    works: "yes",
    how: "SessionStart with compact, after PreCompact and PostCompact; it stands behind the summary. What hooks said before is gone, the user's prompts stay",
  },
  {
    what: "text after a compaction of a sub-agent",
    works: "no",
    how: "only PreCompact and PostCompact come, and their text goes nowhere; the ledger of its window is emptied",
  },
  {
    what: "text for a sub-agent",
    works: "yes",
    how: "SubagentStart; a developer message before its task. Used where the task itself cannot be changed",
  },
  {
    what: "changing a sub-agent's task",
    works: "partly",
    how: "older models (spawn_agent): PreToolUse with updatedInput and the decision allow; newer ones (collaboration) encrypt the task, so that neither it nor a list of documents in it can be read or changed",
  },
  {
    what: "which call started which sub-agent",
    works: "partly",
    how: "older models name the agent's id in the result; newer ones only the name of its task, which the first line of the sub-agent's own file has too",
  },
  {
    what: "a task's packet for a sub-agent",
    works: "partly",
    how: "older models: with its task, where that names one; newer ones: at SubagentStart, where the agent is named after the task (implementer_t4829 for T4829), which get_next_batch tells those models. A sub-agent under another name gets none",
  },
  {
    what: "skills at a sub-agent's prompt",
    works: "partly",
    how: "older models: the sub-agent's task comes as UserPromptSubmit with its agent_id, and what fits is a developer message in its own window; newer ones encrypt the task",
  },
  {
    what: "receipts of what a sub-agent read",
    works: "partly",
    how: "PostToolUse of Bash: what cat, sed, head, tail and a search with line numbers have shown, of a long output its head; a command that failed shows nothing. Only with older models, whose task can be read",
  },
  {
    what: "sending a sub-agent back",
    works: "yes",
    how: "SubagentStop with decision block; it goes on with the reason",
  },
  {
    what: "replacing a tool's result",
    works: "partly",
    how: "decision block puts the reason in its place; updatedToolOutput has no effect. A sub-agent's answer is no tool result and stays",
  },
  {
    what: "length of a text",
    works: "partly",
    how: "10,000 bytes of UTF-8 for each hook; beyond it the middle is cut out and the whole is put into a file. We count bytes and keep to 9,800",
  },
  { what: "edits into the WIP", works: "yes", how: "PostToolUse of apply_patch, with all its files" },
  { what: "failed edits", works: "no", how: "a patch that does not apply has a PreToolUse and nothing else" },
  {
    what: "commands into the WIP",
    works: "yes",
    how: "PostToolUse of Bash has command and output; the exit code is read from the session's file. A command that goes on in the background is reported when it ends",
  },
  {
    what: "the plan into the WIP",
    works: "partly",
    how: "PostToolUse of update_plan, a tool that is there only with tools.update_plan.enabled",
  },
  {
    what: "guarding files before an edit",
    works: "yes",
    how: "PreToolUse of apply_patch with permissionDecision deny: every file of the patch, a moved one under both names; an edit by a shell command is not seen",
  },
  {
    what: "calls of the MCP tools",
    works: "yes",
    how: "listed when the model searches for them. Approved without a question where a tool is read-only, or neither destructive nor open to the world",
  },
  {
    what: "whose call of an MCP tool it is",
    works: "yes",
    how: "_meta has sessionId, threadId (the sub-agent's, else the session's), windowId (new after each compaction) and callId (the hooks' tool_use_id)",
  },
  {
    what: "whose claim a shell command makes",
    works: "yes",
    how: "the shell has CODEX_SESSION_ID and CODEX_THREAD_ID (the sub-agent's, else the session's)",
  },
  {
    what: "resume and fork",
    works: "yes",
    how: "exec resume keeps the session's id. SessionStart of a fork has the source fork, and the first line of its file names the session it is of (forked_from_id)",
  },
  {
    what: "environment of the MCP server",
    works: "partly",
    how: "HOME, PATH, TMPDIR and few others; more only by env_vars in its table, which init writes",
  },
  {
    what: "skills in the client's own listing",
    works: "yes",
    how: "name, description and path of those in .agents/skills, .codex/skills and $CODEX_HOME/skills; not .claude/skills. Beyond 2% of the window all descriptions are cut to one length (120 skills: 118 characters, 300: 14). The model reads the file; $name in a prompt brings the body",
  },
  {
    what: "deferred skills",
    works: "yes",
    how: "[[skills.config]] with path and enabled = false, in the user's config.toml (in a project's it has no effect), for skills of this project; a skill for all projects could only be hidden in all. $name brings a hidden one no more. Names without descriptions cannot be listed",
  },
  {
    what: "context fill",
    works: "yes",
    how: "token_count in the session's file: last_token_usage.total_tokens of model_context_window",
  },
  {
    what: "another turn after the last answer",
    works: "yes",
    how: "Stop with decision block; Codex sets no limit to it, so stop_hook_active must be honoured",
  },
  {
    what: "notice of a turn's end without trusted hooks",
    works: "partly",
    how: "notify, in the user's config.toml only and one program at most; it may say nothing to the model. It tells doctor whether hooks ran, and keeps claimed tasks",
  },
  {
    what: "/work",
    works: "yes",
    how: "as the skill $work ($haversack:work from the plugin), in no listing; sub-agents read their role from a file beside it. Files in prompts/ do nothing, and agent types (agents/*.toml) would be listed in every session",
  },
  {
    what: "package",
    works: "yes",
    how: "a plugin in the client's own format: codex plugin marketplace add FOLDER, codex plugin add haversack@haversack. Its hooks wait for the review in /hooks like all others",
  },
  {
    what: "worktrees",
    works: "partly",
    how: "a project's .codex is not read from its worktrees; init --user covers them",
  },
];
