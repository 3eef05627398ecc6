/** The same events in each client's format: recorded ones, changed where a scenario needs it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Project } from "../project.ts";
import { type Client, type Fields, recordedText } from "../recorded.ts";
import type { EventStep, OtherStep, Step } from "../scenario.ts";

export interface Voice {
  client: Client;
  /** Where the client's own skills are. */
  skills: string;
  /** The recorded session. */
  session: string;
  /** The session's first event; where the client takes no text then, the answer comes with the first prompt. */
  start(source: string, more?: More): Step[];
  prompt(text: string, more?: More): Step;
  beforeEdit(path: string, more?: More): Step;
  afterEdit(path: string, more?: More): Step;
  shell(command: string, output: string, exit: number, more?: More): Step;
  /** The client's own tool has loaded a skill. */
  loadSkill(name: string): Step[];
  /** All events of the client around a compaction. */
  compaction(): Step[];
  /** A sub-agent with this prompt, from the call that starts it to its answer. */
  subAgent(prompt: string): Step[];
  /** A turn ends. Empty if the client has no such event. */
  stop(more?: More): Step[];
  end(more?: More): Step[];
}

export interface More {
  session?: string;
  with?: Fields;
  env?: Record<string, string>;
  after?: number;
  isReader?: boolean;
}

function hookStep(recorded: string, changes: Fields, { session, with: more, ...rest }: More = {}): EventStep {
  const all = { ...(session && { session_id: session }), ...changes, ...more };
  return { recorded, ...(Object.keys(all).length > 0 && { with: all }), ...rest };
}

const claude: Voice = {
  client: "claude-code",
  skills: ".claude/skills",
  session: "00000000-0000-4000-8000-000000000001",
  start: (source, more) => [hookStep("session-start.startup", source === "startup" ? {} : { source }, more)],
  prompt: (prompt, more) => hookStep("user-prompt-submit", { prompt }, more),
  beforeEdit: (path, more) => hookStep("pre-tool-use.edit", { tool_input: { file_path: `/repo/${path}` } }, more),
  afterEdit: (path, more) =>
    hookStep(
      "post-tool-use.edit",
      { tool_input: { file_path: `/repo/${path}` }, tool_response: { filePath: `/repo/${path}` } },
      more,
    ),
  shell: (command, output, exit, more) =>
    exit === 0
      ? hookStep("post-tool-use.bash", { tool_input: { command }, tool_response: { stdout: output } }, more)
      : hookStep(
          "post-tool-use-failure.bash",
          { tool_input: { command }, error: `Exit code ${exit}\n${output}` },
          more,
        ),
  loadSkill: (skill) => [
    hookStep("pre-tool-use.skill", { tool_input: { skill } }),
    hookStep("post-tool-use.skill", { tool_input: { skill }, tool_response: { commandName: skill } }),
  ],
  compaction: () => [
    hookStep("pre-compact.auto", {}),
    hookStep("subagent-stop.summariser", {}),
    hookStep("session-start.compact", {}),
    hookStep("post-compact.auto", {}),
  ],
  subAgent: (prompt) => {
    const agent = { agent_id: "a0000000000000001", agent_type: "general-purpose" };
    return [
      hookStep("pre-tool-use.agent", { tool_input: { prompt } }),
      hookStep("subagent-start", {}),
      // The client says beside the sub-agent's transcript which call started it.
      fileStep(
        "/home/user/.claude/projects/-repo/00000000-0000-4000-8000-000000000001/subagents/agent-a0000000000000001.meta.json",
        '{"toolUseId":"toolu_16_0"}',
      ),
      hookStep("pre-tool-use.mcp-echo-recall", { tool_name: "mcp__haversack__get_task", tool_input: {}, ...agent }),
      hookStep("post-tool-use.edit", { ...agent, tool_input: { file_path: "/repo/src/agent.ts" } }),
      hookStep("post-tool-use.bash.in-sub-agent", {}),
      hookStep("session-start.compact.in-sub-agent", {}),
      hookStep("subagent-stop", {}),
      hookStep("post-tool-use.agent.completed", { tool_input: { prompt } }),
    ];
  },
  stop: (more) => [hookStep("stop", {}, more)],
  end: (more) => [hookStep("session-end.other", {}, more)],
};

const CODEX_ROLLOUTS = "/home/user/.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-00000000-0000-7000-8000-";

const codex: Voice = {
  client: "codex",
  skills: ".agents/skills",
  session: "00000000-0000-7000-8000-000000000001",
  start: (source, more) => [hookStep("session-start.startup", source === "startup" ? {} : { source }, more)],
  prompt: (prompt, more) => hookStep("user-prompt-submit", { prompt }, more),
  beforeEdit: (path, more) => hookStep("pre-tool-use.apply-patch", { tool_input: { command: patch(path) } }, more),
  afterEdit: (path, more) => hookStep("post-tool-use.apply-patch", { tool_input: { command: patch(path) } }, more),
  // The session's file says how a command ended: the commit succeeded and the failing one did not.
  shell: (command, tool_response, exit, more) =>
    hookStep(
      exit === 0 ? "post-tool-use.bash.git-commit" : "post-tool-use.bash.failing",
      { tool_input: { command }, tool_response },
      more,
    ),
  loadSkill: () => [],
  compaction: () => [
    hookStep("pre-compact.auto", {}),
    hookStep("session-start.compact", {}),
    hookStep("post-compact.auto", {}),
  ],
  subAgent: (message) => [
    hookStep("pre-tool-use.spawn-agent", { tool_input: { message } }),
    hookStep("subagent-start", {}),
    hookStep("post-tool-use.spawn-agent", { tool_input: { message } }),
    hookStep("user-prompt-submit.in-sub-agent", { prompt: message }),
    hookStep("post-tool-use.bash.in-sub-agent", {}),
    hookStep("pre-compact.auto.in-sub-agent", {}),
    hookStep("post-compact.auto.in-sub-agent", {}),
    hookStep("subagent-stop", {}),
  ],
  stop: (more) => [hookStep("stop", {}, more)],
  end: (more) => [hookStep("session-end", {}, more)],
};

function patch(path: string): string {
  return `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch`;
}

const GEMINI_CHAT = "/home/user/.gemini/tmp/repo/chats/session-2026-01-01T00-00-00000000.jsonl";

const gemini: Voice = {
  client: "gemini",
  skills: ".agents/skills",
  session: "00000000-0000-4000-8000-000000000001",
  start: (source, more) => [
    source === "resume"
      ? hookStep("session-start.resume", {}, more)
      : hookStep("session-start.startup", source === "startup" ? {} : { source }, more),
  ],
  prompt: (prompt, more) => hookStep("before-agent", { prompt }, more),
  beforeEdit: (file_path, more) => hookStep("before-tool.replace", { tool_input: { file_path } }, more),
  afterEdit: (file_path, more) =>
    hookStep(
      "after-tool.replace",
      { tool_input: { file_path }, tool_response: { returnDisplay: { filePath: `/repo/${file_path}` } } },
      more,
    ),
  shell: (command, output, exit, more) => {
    const ended = exit === 0 ? "" : `Exit Code: ${exit}\n`;
    const llmContent = `<untrusted_context>\nOutput: ${output}\n${ended}Process Group PGID: 1000\n</untrusted_context>`;
    const name = exit === 0 ? "after-tool.run-shell-command" : "after-tool.run-shell-command.exit-1";
    return hookStep(name, { tool_input: { command }, tool_response: { llmContent, returnDisplay: output } }, more);
  },
  loadSkill: (name) => [
    hookStep("before-tool.activate-skill", { tool_input: { name } }),
    hookStep("after-tool.activate-skill", { tool_input: { name } }),
  ],
  // No event reports it; the next prompt finds it in the transcript.
  compaction: () => [
    hookStep("pre-compress.auto", {}),
    {
      meanwhile: "the client compacts the session's window and writes the summary into its transcript",
      do(project) {
        const minute = project.now().slice(0, "2026-01-05T10:00".length);
        project.pass(60_000);
        const chat = recordedText("gemini", "transcript.jsonl").replaceAll("2026-11-16T00:38", minute);
        writeAt(project, GEMINI_CHAT, chat);
      },
    },
  ],
  subAgent: (prompt) => [
    hookStep("before-tool.invoke-agent", { tool_input: { prompt } }),
    hookStep("before-tool.run-shell-command.in-sub-agent", {}),
    hookStep("after-tool.run-shell-command.in-sub-agent", {}),
    hookStep("before-tool.complete-task", {}),
    hookStep("after-tool.complete-task", {}),
    hookStep("after-tool.invoke-agent", { tool_input: { prompt } }),
  ],
  stop: (more) => [hookStep("after-agent", {}, more)],
  end: (more) => [hookStep("session-end", {}, more)],
};

const opencode: Voice = {
  client: "opencode",
  skills: ".agents/skills",
  session: "ses_0002",
  start: (source, more = {}) => {
    const id = more.session ?? "ses_0002";
    const created = pluginStep("event.session-created", eventOf(id, { info: { id } }), { ...more, session: undefined });
    return source === "startup"
      ? [created]
      : [{ meanwhile: `the client ends and starts anew (${source})`, do: (_, driver) => driver.end() }];
  },
  prompt: (prompt, more = {}) => {
    const { session = "ses_0002" } = more;
    const part = { type: "text", text: prompt, messageID: "msg_0003", sessionID: session, id: "prt_0004" };
    return pluginStep("chat-message", { output: { parts: [part] } }, more);
  },
  beforeEdit: (path, more) =>
    pluginStep("tool-execute-before.edit", { output: { args: { filePath: `/repo/${path}` } } }, more),
  afterEdit: (path, more) =>
    pluginStep("tool-execute-after.edit", { input: { args: { filePath: `/repo/${path}` } } }, more),
  shell: (command, output, exit, more) =>
    pluginStep(
      exit === 0 ? "tool-execute-after.bash" : "tool-execute-after.bash.exit-1",
      { input: { args: { command } }, output: { output, metadata: { output, exit } } },
      more,
    ),
  loadSkill: (name) => [
    pluginStep("tool-execute-before.skill", { output: { args: { name } } }),
    pluginStep("tool-execute-after.skill", { input: { args: { name } }, output: { metadata: { name } } }),
  ],
  compaction: () => [
    pluginStep("session-compacting", {}),
    pluginStep("compaction-autocontinue", {}),
    pluginStep("event.session-compacted", {}),
  ],
  subAgent: (prompt) => {
    const part = { type: "text", text: prompt, messageID: "msg_0010", sessionID: "ses_0009", id: "prt_0011" };
    return [
      pluginStep("tool-execute-before.task", { output: { args: { prompt } } }),
      pluginStep("event.session-created.sub-agent", {}),
      pluginStep("chat-message.sub-agent", { output: { parts: [part] } }),
      pluginStep("tool-execute-before.bash.in-sub-agent", {}),
      pluginStep("tool-execute-after.bash.in-sub-agent", {}),
      pluginStep("event.session-idle", {}),
      pluginStep("tool-execute-after.task", { input: { args: { prompt } } }),
    ];
  },
  stop: () => [],
  end: (more = {}) => [
    pluginStep(
      "event.session-created",
      { input: { event: { type: "session.deleted", properties: { sessionID: more.session ?? "ses_0002" } } } },
      { ...more, session: undefined },
    ),
  ],
};

function pluginStep(
  recorded: string,
  changes: Fields,
  { session, with: more, ...rest }: Omit<More, "session"> & { session?: string | undefined } = {},
): EventStep {
  const input = { ...(changes["input"] as Fields | undefined), ...(session && { sessionID: session }) };
  const all = { ...changes, ...(Object.keys(input).length > 0 && { input }), ...more };
  return { recorded, ...(Object.keys(all).length > 0 && { with: all }), ...rest };
}

function eventOf(sessionID: string, properties: Fields): Fields {
  return { input: { event: { properties: { sessionID, ...properties } } } };
}

const VOICES: Readonly<Record<Client, Voice>> = { "claude-code": claude, codex, gemini, opencode };

export function voiceOf(client: Client): Voice {
  return VOICES[client];
}

/** What clients write beside their events, as far as Haversack reads it. */
export function writeClientFiles(client: Client, project: Project): void {
  if (client === "codex") {
    writeAt(project, `${CODEX_ROLLOUTS}000000000001.jsonl`, recordedText("codex", "rollout.jsonl"));
    writeAt(project, `${CODEX_ROLLOUTS}000000000003.jsonl`, recordedText("codex", "rollout.compacted.jsonl"));
  }
}

export function fileStep(path: string, text: string): OtherStep {
  return { meanwhile: `the client writes ${path}`, do: (project) => writeAt(project, path, text) };
}

/** With paths as in the recorded payloads. */
export function writeAt(project: Project, path: string, text: string): void {
  const file = project.placed(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(file), project.placed(text));
}
