/** A Claude Code session as servers and hooks see it: its events and its transcript (format of 2.1.325). */
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Scratch } from "./bins.ts";

/** Wired as `init` does it for a client whose hooks can ask the running server. */
export function wireServer(project: Scratch): void {
  const folder = join(project.home, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, "claude"), "#!/bin/sh\necho 2.1.325\n");
  chmodSync(join(folder, "claude"), 0o755);
  const PATH = `${folder}:${process.env["PATH"]}`;
  const { code, err } = project.haversack(["init", "--yes", "--project", "--client", "claude-code"], { env: { PATH } });
  if (code !== 0) throw new Error(err);
}

export interface Call {
  id: string;
  tool: string;
  input: Record<string, unknown>;
  /** `tool_response` of the event; absent for a sub-agent's call. */
  response?: unknown;
  /** What the model sees. */
  shown?: string;
  isError?: boolean;
  /** The answer that the call belongs to. Default: a separate one. */
  answer?: string;
  at?: Date;
}

export function claudeSession(project: Scratch, sessionId = "s1") {
  const { root, home } = project;
  const path = join(home, ".claude/projects/p", `${sessionId}.jsonl`);
  const fileOf = (agent: string) => (agent ? path.replace(/\.jsonl$/, `/subagents/agent-${agent}.jsonl`) : path);
  mkdirSync(dirname(path), { recursive: true });
  const base = { session_id: sessionId, cwd: root, transcript_path: path };
  const put = (agent: string, record: object) => {
    const about = { cwd: root, sessionId, isSidechain: agent !== "", ...(agent && { agentId: agent }) };
    mkdirSync(dirname(fileOf(agent)), { recursive: true });
    appendFileSync(fileOf(agent), `${JSON.stringify({ ...about, ...record })}\n`);
  };
  const answers = ({ id, tool, input, answer = `msg-${id}`, at = new Date() }: Call, agent = "") =>
    put(agent, {
      type: "assistant",
      message: { id: answer, role: "assistant", content: [{ type: "tool_use", id, name: tool, input }] },
      timestamp: at.toISOString(),
    });
  const results = ({ id, response, shown = "", isError, at = new Date() }: Call, agent = "") =>
    put(agent, {
      type: "user",
      message: {
        role: "user",
        content: [{ tool_use_id: id, type: "tool_result", content: shown, ...(isError && { is_error: true }) }],
      },
      timestamp: at.toISOString(),
      ...(response !== undefined && agent === "" && { toolUseResult: response }),
    });
  return {
    path,
    fileOf,
    /** A payload of an event. */
    event: (name: string, more: object = {}) => ({ ...base, hook_event_name: name, ...more }),
    toolEvent: ({ id, tool, input, response, shown, isError }: Call, agent = "") => ({
      ...base,
      ...(agent && { agent_id: agent, agent_type: "general-purpose" }),
      ...{ tool_name: tool, tool_use_id: id, tool_input: input },
      ...(isError
        ? { hook_event_name: "PostToolUseFailure", error: shown }
        : { hook_event_name: "PostToolUse", tool_response: response ?? {} }),
    }),
    answers,
    results,
    /** The whole call, as it is in the transcript when it is over. */
    logs(call: Call, agent = "") {
      answers(call, agent);
      results(call, agent);
    },
    wip: (agent = "") =>
      project.haversack(["wip", "--session", sessionId, ...(agent ? ["--agent", agent] : []), "--json"]).json().wip,
  };
}

export const write = (id: string, path: string): Call => ({
  ...{ id, tool: "Write", input: { file_path: path, content: "x" } },
  response: { type: "create", filePath: path, content: "x" },
  shown: `File created successfully at: ${path}`,
});
