/** What of Haversack works in Gemini CLI, and how; docs and messages are made from it. Seen in 0.61.0. */
import type { Capability } from "../capability.ts";

export const GEMINI: readonly Capability[] = [
  {
    what: "skills at prompts",
    works: "yes",
    how: "hook BeforeAgent; the text is a part of its own after the prompt, in `<hook_context>`, with `<` and `>` escaped",
  },
  {
    what: "loading a skill",
    works: "yes",
    how: "`activate_skill` for what the client lists (`.gemini/skills/NAME` and `.agents/skills/NAME`, of the project and the user), else our MCP tool `mcp_haversack_skill`",
  },
  { what: "cap of injected text", works: "yes", how: "none met at 60,000 characters; we keep to 20,000" },
  {
    what: "packet at session start",
    works: "partly",
    how: "headless, text of SessionStart stands before the prompt, and a custom command is then no command any more; so it comes with the first prompt",
  },
  {
    what: "packet after a compaction",
    works: "partly",
    how: "no event tells of one (PreCompress fires before every request); read from the transcript at the next prompt or tool result",
  },
  {
    what: "work in progress from tool events",
    works: "yes",
    how: "hook AfterTool; exit codes are read from the text for the model",
  },
  {
    what: "plan position",
    works: "partly",
    how: "`write_todos`, which the models of the third generation do not have",
  },
  {
    what: "sub-agents",
    works: "partly",
    how: "their tool calls come as the session's own; nothing tells them apart, and BeforeAgent does not fire for them",
  },
  {
    what: "a task's packet for a sub-agent",
    works: "yes",
    how: "hook BeforeTool of `invoke_agent` changes its prompt; the client adds a line that says so",
  },
  {
    what: "skills at a sub-agent's prompt",
    works: "yes",
    how: "hook BeforeTool of `invoke_agent` adds those that fit to its prompt, each with the file to read: most agents have no MCP tool",
  },
  {
    what: "receipts of documents that sub-agents read",
    works: "no",
    how: "a sub-agent's tool calls come as the session's own, so nobody can say who has read",
  },
  { what: "replacing a sub-agent's answer", works: "no", how: "only an error can stand in for it" },
  { what: "guarded edits", works: "partly", how: "a refusal works; a warning before an edit is dropped by the client" },
  { what: "context fill", works: "yes", how: "transcript, `tokens` of the last answer" },
  {
    what: "whose claim an MCP call makes",
    works: "yes",
    how: "a call carries no session; hook BeforeTool notes tool and arguments with the session, and the server finds the note. Without one, the only session of the client's process counts. A sub-agent's claims are its session's",
  },
  {
    what: "whose claim a shell command makes",
    works: "yes",
    how: "the shell has `GEMINI_CLI` and no session id; the hooks have told the client's process, which stands above the shell",
  },
  {
    what: "whose window an MCP call is",
    works: "no",
    how: "sub-agents call as their session and have windows of their own; a skill's body comes whenever it is asked for",
  },
  {
    what: "resume and fork",
    works: "yes",
    how: "`--resume` keeps the session's id, and with it its tasks; there is no fork",
  },
  {
    what: "MCP tools without a question",
    works: "yes",
    how: "`trust: true` in settings; an extension cannot set it, and headless sessions then have no such tool",
  },
  {
    what: "deferred skills",
    works: "yes",
    how: "`skills.disabled` in settings; names without descriptions cannot be listed",
  },
  {
    what: "/work",
    works: "yes",
    how: "`commands/work.toml` and `agents/`; a project's agents work once the person has let them in an interactive session, the user's and the extension's at once",
  },
  {
    what: "project settings",
    works: "partly",
    how: "read only in the folder that the session is started in, and only when it is trusted",
  },
  { what: "package", works: "yes", how: "`gemini extensions install FOLDER`" },
];
