/**
 * What answers the client of an MCP server: the listing of the tools, and calls. Whatever goes wrong in a call is a result that the agent
 * can act on. `serve.ts` speaks the protocol.
 *
 * Where the SDK serves, the two tool handlers are our own as well: its registration would add to every listing what a model pays for,
 * and answer wrong input with errors of the protocol, which a model does not see.
 */
import { errorText, isFault } from "../base/errors.ts";
import type { LogLevel } from "../base/log.ts";
import { nearest } from "../base/nearest.ts";
import type { LiveSkills } from "../engine/live-skills.ts";
import type { Environment } from "../engine/project.ts";
import { saysNothing } from "../engine/window-of-call.ts";
import type { LiveWork } from "../engine/work/live-work.ts";
import { type CallRequest, readCallMarks } from "./call-marks.ts";
import type { Answers } from "./serve.ts";
import { callSchema, type Tool, type ToolAnswer } from "./tool.ts";
import { hintForAgent } from "./tool-hints.ts";
import { readInput } from "./tool-input.ts";
import { describeTool } from "./tools.ts";
import { STUCK_MS, startWatchdog } from "./watchdog.ts";
import { shortenedId } from "./whole-ids.ts";

/** What tools work with. The caller opens it, and opens nothing before it is asked for. */
export interface ServerParts {
  skills: LiveSkills;
  work: LiveWork;
  env: Environment;
  /** Answers an event that the client tells by calling the tool `hook`. */
  hook(input: unknown, meta: Readonly<Record<string, unknown>> | undefined): string;
  /** Why everything is switched off, or undefined when it is on. Asked at every call. */
  offReason(): string | undefined;
  log(level: LogLevel, text: string): void;
}

export interface ServerOptions {
  version: string;
  tools: readonly Tool[];
  /** Serve the skills through the protocol's skills extension as well. Default: false. */
  serveSkills?: boolean;
}

/** Not listed: a model pays for no word of it. */
export const HOOK_TOOL = "hook";

/** After the handshake, so that a cold index does not delay it. */
const FIRST_CHECK_MS = 200;

/** `close` gives back what the parts hold. */
export function makeAnswers(parts: ServerParts, options: ServerOptions, close: () => void): Answers {
  const { tools } = options;
  const isOff = parts.offReason() !== undefined;
  // After the first answer: a thread takes some 15 ms to start, and a client waits for the handshake.
  let watchdog: ReturnType<typeof startWatchdog> | undefined;
  const later = setTimeout(() => {
    watchdog = startWatchdog({ stuckMs: STUCK_MS });
  }, FIRST_CHECK_MS / 2);
  later.unref();
  const answers: Answers = {
    // Switched off means that the model reads not a word of ours: no tool is listed. One listed before says so when called.
    listTools: () => ({ tools: parts.offReason() ? [] : tools.map(describeTool) }),
    async callTool({ _meta, ...params }, client) {
      const request = { ...params, meta: _meta, client };
      // The answer is the one text block that the client reads; `{}` is silence.
      if (params.name === HOOK_TOOL && isFromHook(request)) {
        return { content: [{ type: "text", text: answerHook(request, parts) }] };
      }
      const { text, isError } = await answerCall(request, { tools, parts });
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
 * Models never see the tool. One that calls it all the same, where its client lets it, is told that there is no such tool: what it would
 * make up must not be recorded. Claude Code (seen in 2.1.325) and Codex (0.166.0) mark a model's calls with an id, and hooks of Gemini CLI and
 * opencode never call.
 */
function isFromHook({ meta, client }: CallRequest): boolean {
  if (meta?.["claudecode/toolUseId"] !== undefined || meta?.["callId"] !== undefined) return false;
  return !(client !== undefined && saysNothing(client));
}

function answerHook({ arguments: input, meta }: CallRequest, { hook, log }: ServerParts): string {
  try {
    return hook(input, meta);
  } catch (error) {
    log("error", `hook: ${errorText(error)}`);
    return "{}";
  }
}

/** The surface's one translator: outcomes, wrong input, faults and bugs to a result. */
async function answerCall(
  request: CallRequest,
  { tools, parts }: { tools: readonly Tool[]; parts: ServerParts },
): Promise<ToolAnswer> {
  const { name, arguments: given, client } = request;
  const off = parts.offReason();
  if (off) return failure(`Haversack is off: ${off}`);
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) {
    const names = tools.map((known) => known.name);
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
      // A wrong id is the agent's, and it is told.
      const isWrongInput = error.code === "input-invalid" || error.code === "not-found" || error.code === "refused";
      parts.log(isWrongInput ? "info" : "error", `${name}: ${error.message}`);
      // What is broken, people mend, with commands; what an agent has got wrong, it mends with tools.
      const hint = error.hint && isWrongInput ? hintForAgent(error.hint) : error.hint;
      return failure(hint ? `${error.message} (${hint})` : error.message);
    }
    parts.log("error", `${name}: internal fault: ${(error instanceof Error && error.stack) || errorText(error)}`);
    return failure(`Internal fault: ${errorText(error)} (its log has the details)`);
  }
}

function failure(text: string): ToolAnswer {
  return { text, isError: true };
}
