/** What of Haversack works in Claude Code, and how; the docs show it. Seen in 2.1.325 (test/clients/claude-code). */
import type { Capability } from "../capability.ts";

export const CLAUDE_CODE: readonly Capability[] = [
  { what: "skills at prompts", works: "yes", how: "UserPromptSubmit, `additionalContext`" },
  {
    what: "loading a skill",
    works: "yes",
    how: "the client's own Skill tool for those it lists, else our MCP tool `mcp__haversack__skill`",
  },
  {
    what: "cap of injected text",
    works: "partly",
    how: "10,000 characters for each hook; beyond it the model gets a preview. We keep to 9,500",
  },
  { what: "packet at session start", works: "yes", how: "SessionStart with startup, resume or clear" },
  {
    what: "packet after a compaction",
    works: "yes",
    how: "SessionStart with compact; it stands behind the summary. Skills that the client's own tool loaded come back by themselves",
  },
  {
    what: "work in progress from tool events",
    works: "yes",
    how: "PostToolUse and PostToolUseFailure of edits, Bash and the plan",
  },
  {
    what: "sub-agents",
    works: "yes",
    how: "`agent_id` in every event; which call started which is written beside the transcript, before its first tool call",
  },
  {
    what: "a task's packet for a sub-agent",
    works: "yes",
    how: "PreToolUse of `Agent` changes its prompt; the coordinator's own copy keeps its bytes",
  },
  {
    what: "skills at a sub-agent's prompt",
    works: "yes",
    how: "PreToolUse of `Agent` adds those that fit to its prompt. Built-in types and ours load them with the Skill tool or our MCP tool; any other type may lack both and is told the file to read",
  },
  {
    what: "receipts of what a sub-agent read",
    works: "yes",
    how: "PostToolUse of Read and Bash, with the lines that were shown",
  },
  {
    what: "replacing a sub-agent's answer",
    works: "partly",
    how: "PostToolUse with `updatedToolOutput` in the tool's own shape; the result of one in the background cannot be changed",
  },
  { what: "guarded edits", works: "yes", how: "PreToolUse; a refusal, or a warning that the model reads" },
  {
    what: "context fill",
    works: "partly",
    how: "the usage of the last answer in the transcript, a message late; no hook carries the window's size",
  },
  {
    what: "whose window an MCP call is",
    works: "yes",
    how: "a call carries its tool-use id, and PreToolUse has that with the session and the agent",
  },
  {
    what: "whose claim a shell command makes",
    works: "partly",
    how: "the shell has `CLAUDE_CODE_SESSION_ID`; a sub-agent's shell has no more than that, so its claims are its session's",
  },
  {
    what: "resume and fork",
    works: "yes",
    how: "`--resume` keeps the session's id. SessionStart of a fork does not say of which session it is: the client's command line does, or the fill of the window, which is the same in one transcript",
  },
  { what: "MCP tools without a question", works: "yes", how: "`permissions.allow`; a plugin cannot set it" },
  {
    what: "deferred skills",
    works: "yes",
    how: "`skillOverrides` in settings: hidden, or the name alone in the listing",
  },
  { what: "/work", works: "yes", how: "`commands/work.md` and `agents/`" },
  {
    what: "another turn after the last answer",
    works: "yes",
    how: "Stop with `additionalContext`, at most 8 times in a row; we do it once",
  },
  { what: "package", works: "yes", how: "a plugin, installed from a folder as a marketplace" },
];
