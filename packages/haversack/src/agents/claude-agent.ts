/**
 * The same for `@anthropic-ai/claude-agent-sdk`: options with hooks in this process that load the skills a prompt needs, and an MCP server
 * in this process with the `skill` tool. Nothing of that package is imported, so it stays optional.
 */
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { ANY, BOOLEAN, checkSettings, countFrom, type Kinds, numberFrom } from "./check-settings.ts";
import { ConversationLedger } from "./conversations.ts";
import { type AgentEventDetails, quietly } from "./events.ts";
import { skillMessage } from "./middleware.ts";
import { SkillAutoTrigger } from "./skill-auto-trigger.ts";
import { renew, trim } from "./skill-cache.ts";
import type { SkillRegistry } from "./skill-registry.ts";
import { SKILL_INPUT_SCHEMA, SkillTool, type SkillToolInput } from "./skill-tool.ts";

export interface ClaudeAgentOptions {
  /** Load the skills that a prompt or the task of a sub-agent needs. Default: true. */
  autoTrigger?: boolean;
  /** Default: 0.6. */
  confidenceThreshold?: number;
  /** Default: 3. */
  maxSkills?: number;
  /** Most characters that one prompt may add; the client cuts what is longer than 10,000. Default: 10,000. */
  maxChars?: number;
  onEvent?: (event: AgentEventDetails) => void;
}

type Hook = (input: unknown, toolUseId: string | undefined, options: { signal: AbortSignal }) => Promise<HookOutput>;
interface HookOutput {
  continue?: boolean;
  hookSpecificOutput?:
    | { hookEventName: "UserPromptSubmit"; additionalContext: string }
    | { hookEventName: "PreToolUse"; updatedInput: Record<string, unknown> };
}

const OPTION_KINDS: Kinds = {
  autoTrigger: BOOLEAN,
  confidenceThreshold: numberFrom(0, 1),
  maxSkills: countFrom(0),
  maxChars: countFrom(0),
  onEvent: ANY,
};

const SERVER = "haversack";
const TOOL = `mcp__${SERVER}__skill`;

/** For the `options` of `query`: `query({ prompt, options: { ...claudeAgentOptions(skills), model } })`. Merge `hooks` if you have your own. */
export interface ClaudeAgentSetup {
  // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK's hooks and server are its own, and it is not imported here.
  hooks: Record<"UserPromptSubmit" | "SessionStart" | "PreToolUse", { matcher?: string; hooks: any[] }[]>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  mcpServers: { haversack: { type: "sdk"; name: "haversack"; instance: any } };
  /** The skill tool needs no permission: it only reads skills. */
  allowedTools: string[];
}

/**
 * A skill's text is sent once to each session, and again when the session was compacted or cleared, because the model has forgotten it. Each
 * sub-agent has its own window, and gets the skills that its task needs with the task. Throws an AgentError if an option is unknown or has a
 * wrong value.
 */
export function claudeAgentOptions(skills: SkillRegistry, options: ClaudeAgentOptions = {}): ClaudeAgentSetup {
  checkSettings(options, OPTION_KINDS, { of: "claudeAgentOptions" });
  const sessions = new ClaudeSessions(skills, options);
  return {
    hooks: {
      UserPromptSubmit: [{ hooks: [sessions.onPrompt] }],
      SessionStart: [{ hooks: [sessions.onStart] }],
      PreToolUse: [
        { matcher: TOOL, hooks: [sessions.onCall] },
        { matcher: "Agent|Task", hooks: [sessions.onDelegate] },
      ],
    },
    mcpServers: { [SERVER]: { type: "sdk", name: SERVER, instance: new SkillServer(sessions) } },
    allowedTools: [TOOL],
  };
}

class ClaudeSessions {
  readonly #skills: SkillRegistry;
  readonly #trigger: SkillAutoTrigger;
  readonly #options: ClaudeAgentOptions;
  readonly #tell: (event: AgentEventDetails) => void;
  /** What each window has been shown. A window belongs to a session or to one of its sub-agents. */
  readonly #windows = new Map<string, ConversationLedger>();
  /** The window behind a call that the server has not seen yet, by the ID of the call. */
  readonly #callers = new Map<string, string>();

  constructor(skills: SkillRegistry, options: ClaudeAgentOptions) {
    this.#skills = skills;
    this.#trigger = new SkillAutoTrigger(skills);
    this.#options = options;
    this.#tell = quietly(options.onEvent);
  }

  /** The tool as the caller of `toolUseId` sees it. Without one, as a window that has been shown nothing. */
  toolFor(toolUseId?: unknown): SkillTool {
    const caller = this.#callers.get(String(toolUseId));
    this.#callers.delete(String(toolUseId));
    const ledger = caller === undefined ? new ConversationLedger() : this.#window(caller);
    return new SkillTool(this.#skills, { ledger, onEvent: this.#tell });
  }

  /** MCP does not say who calls, but the hook before the call does. */
  readonly onCall: Hook = async (input, toolUseId) => {
    if (toolUseId !== undefined) keepLatest(this.#callers, toolUseId, windowOf(input));
    return {};
  };

  readonly onStart: Hook = async (input) => {
    const source = isRecord(input) ? input["source"] : undefined;
    // A sub-agent is compacted alone.
    if (source === "compact" || source === "clear") this.#windows.delete(windowOf(input));
    return {};
  };

  #window(key: string): ConversationLedger {
    const ledger = this.#windows.get(key) ?? new ConversationLedger();
    keepLatest(this.#windows, key, ledger);
    return ledger;
  }

  readonly onPrompt: Hook = async (input) => {
    const prompt = isRecord(input) ? input["prompt"] : undefined;
    // The report of a background agent comes as a prompt as well.
    if (typeof prompt !== "string" || prompt.startsWith("<task-notification>")) return {};
    const additionalContext = this.#neededFor(prompt, this.#window(windowOf(input)));
    return additionalContext ? { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } } : {};
  };

  /** A sub-agent's task gets its skills with it: no hook says which call a sub-agent belongs to. */
  readonly onDelegate: Hook = async (input) => {
    const toolInput = isRecord(input) && isRecord(input["tool_input"]) ? input["tool_input"] : {};
    const { prompt } = toolInput;
    const text = typeof prompt === "string" ? this.#neededFor(prompt, new ConversationLedger()) : "";
    if (!text) return {};
    const updatedInput = { ...toolInput, prompt: `${prompt}\n\n${text}` };
    return { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput } };
  };

  /** The texts of the skills that a prompt needs and its window lacks. Never fails the prompt. */
  #neededFor(prompt: string, ledger: ConversationLedger): string {
    const { autoTrigger = true, confidenceThreshold, maxSkills = 3, maxChars = 10_000 } = this.#options;
    if (!autoTrigger) return "";
    const texts: string[] = [];
    try {
      this.#skills.keepFresh();
      const triggers = this.#trigger.analyzeTask(prompt, {
        ...(confidenceThreshold !== undefined && { confidenceThreshold }),
      });
      let room = maxChars;
      for (const { skill, reason, confidence } of triggers) {
        if (ledger.has(skill.name, skill.hash) || texts.length >= maxSkills) continue;
        if (skill.instructions.length + MARGIN > room) {
          texts.push(`The skill '${skill.name}' fits this prompt (${reason}); the skill tool of haversack loads it.`);
          continue;
        }
        ledger.by = "auto";
        const loaded = this.#skills.load(skill.name, { ledger });
        ledger.by = "tool";
        if (loaded.kind !== "loaded") continue;
        const text = skillMessage(skill.name, loaded.text, { by: "auto", reason });
        texts.push(text);
        room -= text.length + 2;
        this.#tell({ type: "skill-loaded", skill: skill.name, by: "auto", reason, confidence, tokens: loaded.tokens });
      }
    } catch (error) {
      this.#tell({ type: "warning", text: `skills were not loaded: ${errorText(error)}` });
    }
    return texts.join("\n\n");
  }
}

/** Maximum number of sessions and sub-agents. The least recently used is forgotten first, and then gets texts again. */
const MOST_WINDOWS = 1_000;

function windowOf(input: unknown): string {
  const { session_id: session = "", agent_id: agent = "" } = isRecord(input) ? input : {};
  return `${String(session)} ${String(agent)}`;
}

function keepLatest<Value>(map: Map<string, Value>, key: string, value: Value): void {
  renew(map, key, value);
  trim(map, MOST_WINDOWS);
}

/** The heading, the reason and the names of resources of a skill. */
const MARGIN = 1_000;

interface Transport {
  start(): Promise<void>;
  send(message: unknown): Promise<void>;
  close(): Promise<void>;
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
}

/** As much of MCP as one tool needs. The description of the tool is made when it is listed, so it follows the registry. */
class SkillServer {
  readonly #sessions: ClaudeSessions;
  #transport: Transport | undefined;

  constructor(sessions: ClaudeSessions) {
    this.#sessions = sessions;
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => void this.#answer(message, transport);
    await transport.start();
  }

  isConnected(): boolean {
    return this.#transport !== undefined;
  }

  async close(): Promise<void> {
    const transport = this.#transport;
    this.#transport = undefined;
    await transport?.close();
  }

  async #answer(message: unknown, transport: Transport): Promise<void> {
    if (!isRecord(message) || message["id"] === undefined || typeof message["method"] !== "string") return;
    const { id, method } = message;
    const params = isRecord(message["params"]) ? message["params"] : {};
    try {
      const result = await this.#call(method, params);
      const answer = result ? { result } : { error: { code: -32_601, message: `${method} is not supported` } };
      await transport.send({ jsonrpc: "2.0", id, ...answer });
    } catch (error) {
      await transport.send({ jsonrpc: "2.0", id, error: { code: -32_603, message: errorText(error) } });
    }
  }

  async #call(method: string, params: Record<string, unknown>): Promise<object | undefined> {
    const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
    const tool = this.#sessions.toolFor(meta["claudecode/toolUseId"]);
    switch (method) {
      case "initialize":
        return {
          protocolVersion: params["protocolVersion"] ?? "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: SERVER, version: "1" },
        };
      case "ping":
        return {};
      case "tools/list":
        return {
          tools: [
            {
              name: tool.name,
              description: tool.description,
              inputSchema: SKILL_INPUT_SCHEMA,
              annotations: { readOnlyHint: true },
              // Otherwise the client hides the tool behind its tool search, and no model sees the catalogue.
              _meta: { "anthropic/alwaysLoad": true },
            },
          ],
        };
      case "tools/call": {
        if (params["name"] !== tool.name) throw new Error(`there is no tool '${String(params["name"])}'`);
        const { success, output } = await tool.execute((params["arguments"] ?? {}) as SkillToolInput);
        return { content: [{ type: "text", text: output }], isError: !success };
      }
      default:
        return undefined;
    }
  }
}
