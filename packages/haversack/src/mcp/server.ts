/**
 * Lists the tools and answers calls. Any failure becomes a result that the agent can act on. `serve.ts` implements the protocol.
 *
 * The SDK uses these two handlers too. Its own registration would add boilerplate to every listing, which costs the model tokens, and would
 * answer wrong input with protocol errors, which the model does not see.
 */
import { errorText, isFault } from "../base/errors.ts";
import type { LogLevel } from "../base/log.ts";
import { nearest } from "../base/nearest.ts";
import { callKey } from "../engine/call-key.ts";
import type { LiveSkills } from "../engine/live-skills.ts";
import type { Environment } from "../engine/project.ts";
import { type CallMarks, saysNothing } from "../engine/window-of-call.ts";
import type { LiveWork } from "../engine/work/live-work.ts";
import { explainShortId } from "../engine/work/work-parts.ts";
import type { Answers } from "./serve.ts";
import { callSchema, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";
import { readInput } from "./tool-input.ts";
import { describeTool } from "./tools.ts";
import { STUCK_MS, startWatchdog } from "./watchdog.ts";

/** What the tools work with. Each part opens the store at its first use. */
export interface ServerParts {
  skills: LiveSkills;
  work: LiveWork;
  env: Environment;
  /** Answers an event that the client reports by calling the tool `hook`. */
  hook(input: unknown, meta: Readonly<Record<string, unknown>> | undefined): string | Promise<string>;
  /** Why Haversack is switched off; undefined if it is on. Checked at every call. */
  offReason(): string | undefined;
  log(level: LogLevel, text: string): void;
}

export interface ServerOptions {
  version: string;
  /** All that can be called. */
  tools: readonly Tool[];
  /** Whether a tool is listed now; it depends on the settings. */
  isOffered(tool: Tool): boolean;
  /** Also serve the skills through the protocol's skills extension. Default: false. */
  serveSkills?: boolean;
}

/** Not listed, so it costs the model no tokens. */
export const HOOK_TOOL = "hook";

/** Delayed until after the handshake, so a cold index does not slow it down. */
const FIRST_CHECK_MS = 200;

/** `close` releases what the parts hold. */
export function makeAnswers(parts: ServerParts, options: ServerOptions, close: () => void): Answers {
  const { tools } = options;
  const isOff = parts.offReason() !== undefined;
  // Started after the first answer: the client waits for the handshake and should not wait for the watchdog process.
  let watchdog: ReturnType<typeof startWatchdog> | undefined;
  const later = setTimeout(() => {
    watchdog = startWatchdog({ stuckMs: STUCK_MS });
  }, FIRST_CHECK_MS / 2);
  later.unref();
  const answers: Answers = {
    // When switched off, no tool is listed, so Haversack costs the model no tokens. Tools listed earlier say so when called.
    listTools: () => ({ tools: parts.offReason() ? [] : tools.filter(options.isOffered).map(describeTool) }),
    async callTool({ _meta, ...params }, client) {
      const request = { ...params, meta: _meta, client };
      // The client reads this one text block; `{}` means that the hook has nothing to say.
      if (params.name === HOOK_TOOL && isFromHook(request)) {
        return { content: [{ type: "text", text: await answerHook(request, parts) }] };
      }
      const { text, isError } = await answerCall(request, { tools, parts, isOffered: options.isOffered });
      return { content: [{ type: "text", text }], ...(isError && { isError }) };
    },
    begin() {
      if (!isOff) setTimeout(() => parts.skills.checkNow(), FIRST_CHECK_MS).unref();
    },
    log: parts.log,
    serveWithSdk: async (input) => {
      const { serveWithSdk } = await import("./sdk-server.ts");
      await serveWithSdk(input, { answers, parts, options });
    },
    close() {
      clearTimeout(later);
      watchdog?.stop();
      close();
    },
  };
  return answers;
}

/**
 * The tool is not listed. If a model calls it anyway, it gets "no such tool", because invented events must not be recorded. Claude Code
 * (seen in 2.1.325) and Codex (0.166.0) mark a model's calls with an ID. Hooks of Gemini CLI and opencode never call this tool.
 */
function isFromHook({ meta, client }: CallRequest): boolean {
  if (meta?.["claudecode/toolUseId"] !== undefined || meta?.["callId"] !== undefined) return false;
  return !(client !== undefined && saysNothing(client));
}

async function answerHook({ arguments: input, meta }: CallRequest, { hook, log }: ServerParts): Promise<string> {
  try {
    return await hook(input, meta);
  } catch (error) {
    log("error", `hook: ${errorText(error)}`);
    return "{}";
  }
}

/** Turns outcomes, wrong input, faults and bugs into a result. */
async function answerCall(
  request: CallRequest,
  { tools, parts, isOffered }: Pick<ServerOptions, "tools" | "isOffered"> & { parts: ServerParts },
): Promise<ToolAnswer> {
  const { name, arguments: given, client } = request;
  const off = parts.offReason();
  if (off) return failure(`Haversack is off: ${off}`);
  const tool = tools.find((candidate) => candidate.name === name);
  /** Never name a tool that the client was not shown. */
  const offered = () => tools.filter(isOffered).map((known) => known.name);
  if (!tool) {
    const names = offered();
    const [guess] = nearest(name, names);
    return failure(`There is no tool "${name}"; ${guess ? `did you mean ${guess}?` : `there is ${names.join(", ")}`}`);
  }
  const input = readInput(given, callSchema(tool));
  if ("problem" in input) return failure(`${name}: ${input.problem}`);
  try {
    const call = { parts, marks: readCallMarks(request, parts.env), client, at: new Date() };
    const shortened = await shortenedId(input.value, call);
    return shortened === undefined ? await tool.run(input.value, call) : failure(shortened);
  } catch (error) {
    if (isFault(error)) {
      const isWrongInput = error.code === "input-invalid" || error.code === "not-found" || error.code === "refused";
      parts.log(isWrongInput ? "info" : "error", `${name}: ${error.message}`);
      // People fix a broken store, and they have commands. Agents fix wrong input, and they have tools.
      const hint = error.hint && isWrongInput ? hintForAgent(error.hint, offered()) : error.hint;
      return failure(hint ? `${error.message} (${hint})` : error.message);
    }
    parts.log("error", `${name}: internal fault: ${(error instanceof Error && error.stack) || errorText(error)}`);
    return failure(`Internal fault: ${errorText(error)} (its log has the details)`);
  }
}

function failure(text: string): ToolAnswer {
  return { text, isError: true };
}

// IDs in a call must be complete. A person shortens an ID they see on screen. An agent that writes "T48" has made it up; if that happened to
// be a prefix, the call would change the wrong task.

/** The message to the agent about a shortened ID. Undefined: all are complete. */
export async function shortenedId(
  input: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<string | undefined> {
  const ids = ID_FIELDS.flatMap((field) => input[field] ?? [])
    .flat()
    .filter((id): id is string => typeof id === "string" && id.trim() !== "");
  if (ids.length === 0) return undefined;
  return call.parts.work.read(call, async (parts) => {
    for (const id of ids) {
      const problem = await explainShortId(id.trim(), parts);
      if (problem !== undefined) return problem;
    }
    return undefined;
  });
}

/** Without `agent_id` and `session_id`, which come from the client. */
const ID_FIELDS = ["task_id", "story_id", "epic_id", "parent_id", "depends_on", "depends_on_task_id", "about", "id"];

/**
 * Hints name commands, for people. Agents get the matching tool instead, or the command if that tool is not offered. Commands without a tool
 * are left out: an agent may have no shell.
 */
const TOOLS: Readonly<Record<string, string>> = {
  "task list": "get_tasks",
  "story list": "list_stories",
  "epic list": "get_epics",
  "handoff list": "get_task_handoff",
  "handoff show": "get_task_handoff",
  "agent list": "list_agents",
  next: "get_next_batch",
};

/** Undefined: the hint has nothing an agent can use. */
export function hintForAgent(hint: string, offered: readonly string[]): string | undefined {
  let isLost = false;
  const told = hint.replace(/`haversack ([^`]*)`/g, (whole, command: string) => {
    const words = Object.keys(TOOLS).find((known) => command === known || command.startsWith(`${known} `));
    const tool = TOOLS[words ?? ""];
    if (tool === undefined) isLost = true;
    return tool !== undefined && offered.includes(tool) ? tool : whole;
  });
  return isLost ? undefined : told;
}

// What a tool call reveals about its caller. Each client sends different marks, and two send none.

export interface CallRequest {
  name: string;
  arguments?: unknown;
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** The name the client gave itself. */
  client?: string | undefined;
}

/**
 * Claude Code (seen in 2.1.325): the session that started the server is in the environment, the tool-use ID comes with the call. One server
 * serves all sub-agents and outlives a `/clear`, which begins another session. Codex (seen in 0.166.0): session, thread and window come with
 * the call. Gemini CLI and opencode send nothing, so we look up the call itself in the notes of their hooks. Any of them may run in a shell
 * of Claude Code; the session in the environment is then not theirs.
 */
export function readCallMarks({ name, arguments: args, meta, client }: CallRequest, env: Environment): CallMarks {
  if (client !== undefined && saysNothing(client)) return { call: callKey(name, args) };
  const isThread = typeof meta?.["threadId"] === "string" && meta["threadId"] !== "";
  const marks = {
    sessionId: isThread ? meta["sessionId"] : env["CLAUDE_CODE_SESSION_ID"],
    toolUseId: meta?.["claudecode/toolUseId"],
    threadId: meta?.["threadId"],
    windowId: meta?.["windowId"],
    callId: isThread ? meta["callId"] : undefined,
  };
  return Object.fromEntries(Object.entries(marks).filter(([, value]) => typeof value === "string" && value !== ""));
}
