/** What of Haversack works in opencode, and how; docs and messages are made from it. Seen in 1.18.33. */
import type { Capability } from "../capability.ts";

export const OPENCODE: readonly Capability[] = [
  {
    what: "skills at prompts",
    works: "yes",
    how: "plugin hook `chat.message`: a part behind the prompt, for sub-agents too",
  },
  {
    what: "loading a skill",
    works: "yes",
    how: "the client's `skill` tool for what it lists (`.opencode/skills`, `.opencode/skill`, `.agents/skills`, `.claude/skills`, of the project and the user, and those of its settings folder), else our MCP tool `haversack_skill`",
  },
  { what: "cap of injected text", works: "yes", how: "none met; we keep to 20,000 characters" },
  { what: "packet at session start", works: "yes", how: "with the first prompt of the session in this process" },
  {
    what: "packet after a compaction",
    works: "yes",
    how: "`experimental.compaction.autocontinue`: a message of its own before the client goes on; after a compaction by hand with the next prompt",
  },
  {
    what: "work in progress from tool events",
    works: "yes",
    how: "`tool.execute.after`, with exit codes; calls that fail are not told",
  },
  { what: "plan position", works: "yes", how: "`todowrite`" },
  {
    what: "sub-agents",
    works: "yes",
    how: "a sub-agent is a session with a parent; it is kept as an agent of the topmost one",
  },
  {
    what: "a task's packet for a sub-agent",
    works: "yes",
    how: "a part behind the sub-agent's own prompt; the coordinator's call stays as it was",
  },
  {
    what: "receipts of documents that sub-agents read",
    works: "partly",
    how: "the sub-agent's own `read` and `bash` calls, where its prompt has the reference block (`haversack dispatch`); none is added unasked, and a sub-agent cannot be sent back: when its answer is told, it has ended",
  },
  { what: "replacing a sub-agent's answer", works: "yes", how: "`tool.execute.after` of `task`" },
  {
    what: "guarded edits",
    works: "yes",
    how: "a refusal is the tool's error; a warning comes behind the tool's result",
  },
  { what: "context fill", works: "yes", how: "event `message.updated`, and the window's size from `chat.params`" },
  {
    what: "whose claim an MCP call makes, and whose window it is",
    works: "yes",
    how: "a call carries no session; `tool.execute.before` notes tool and arguments with session and sub-agent, and the server finds the note. Of two sessions that make the same call at once the second waits for the first",
  },
  {
    what: "whose claim a shell command makes",
    works: "yes",
    how: "`shell.env` sets `HAVERSACK_SESSION`, with the sub-agent where it is one",
  },
  {
    what: "resume and fork",
    works: "yes",
    how: "`-s` keeps the session's id. A fork (`--fork`) is known by its title, and the session it is of by the times of their messages; while both are open in one process, the tasks stay with the first",
  },
  { what: "MCP tools without a question", works: "yes", how: "MCP tools are allowed by default" },
  {
    what: "deferred skills",
    works: "yes",
    how: "the plugin adds them to `permission.skill` as `deny`, in memory, for sub-agents too; a rule of the person's for the same name stays. `/name` still works. Names without descriptions cannot be listed",
  },
  { what: "/work", works: "yes", how: "the plugin adds the command and its agents to the configuration in memory" },
  { what: "patterns of rules", works: "partly", how: "the client runs on Bun: only patterns that are proven linear" },
  { what: "package", works: "yes", how: "a folder named under `plugin` in opencode.json" },
];
