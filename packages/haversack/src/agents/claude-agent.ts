/**
 * The same for `@anthropic-ai/claude-agent-sdk`: options with hooks in this process that load the skills a prompt needs, and an MCP server
 * in this process with the `skill` tool. Nothing of that package is imported, so it stays optional.
 */
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { ConversationLedger } from "./conversations.ts";
import type { AgentEventDetails } from "./events.ts";
import { skillMessage } from "./middleware.ts";
import { SkillAutoTrigger } from "./skill-auto-trigger.ts";
import type { SkillRegistry } from "./skill-registry.ts";
import { SkillTool, type SkillToolInput } from "./skill-tool.ts";

export interface ClaudeAgentOptions {
  /** Load the skills that a prompt needs. Default: true. */
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
  hookSpecificOutput?: { hookEventName: "UserPromptSubmit"; additionalContext: string };
}

/** For the `options` of `query`: `query({ prompt, options: { ...claudeAgentOptions(skills), model } })`. */
export interface ClaudeAgentSetup {
  // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK's hooks and server are its own, and it is not imported here.
  hooks: { UserPromptSubmit: { hooks: any[] }[]; SessionStart: { hooks: any[] }[] };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  mcpServers: { haversack: { type: "sdk"; name: "haversack"; instance: any } };
  /** The skill tool needs no permission: it only reads skills. */
  allowedTools: string[];
}

/** Make one for each session. The ledger ends when the session is compacted or cleared, because the model has forgotten. */
export function claudeAgentOptions(skills: SkillRegistry, options: ClaudeAgentOptions = {}): ClaudeAgentSetup {
  const session = new ClaudeSession(skills, options);
  return {
    hooks: {
      UserPromptSubmit: [{ hooks: [session.onPrompt] }],
      SessionStart: [{ hooks: [session.onStart] }],
    },
    mcpServers: { haversack: { type: "sdk", name: "haversack", instance: new SkillServer(session) } },
    allowedTools: ["mcp__haversack__skill"],
  };
}

class ClaudeSession {
  readonly #skills: SkillRegistry;
  readonly #trigger: SkillAutoTrigger;
  readonly #options: ClaudeAgentOptions;
  #ledger = new ConversationLedger();

  constructor(skills: SkillRegistry, options: ClaudeAgentOptions) {
    this.#skills = skills;
    this.#trigger = new SkillAutoTrigger(skills);
    this.#options = options;
  }

  get tool(): SkillTool {
    const { onEvent } = this.#options;
    return new SkillTool(this.#skills, { ledger: this.#ledger, ...(onEvent && { onEvent }) });
  }

  readonly onStart: Hook = async (input) => {
    const source = isRecord(input) ? input["source"] : undefined;
    if (source === "compact" || source === "clear") this.#ledger = new ConversationLedger();
    return {};
  };

  /** Never fails the prompt. */
  readonly onPrompt: Hook = async (input) => {
    const { autoTrigger = true, confidenceThreshold, maxSkills = 3, maxChars = 10_000, onEvent } = this.#options;
    const prompt = isRecord(input) ? input["prompt"] : undefined;
    if (!autoTrigger || typeof prompt !== "string") return {};
    const texts: string[] = [];
    try {
      this.#skills.keepFresh();
      const triggers = this.#trigger.analyzeTask(prompt, {
        ...(confidenceThreshold !== undefined && { confidenceThreshold }),
      });
      let room = maxChars;
      for (const { skill, reason, confidence } of triggers) {
        if (this.#ledger.has(skill.name, skill.hash) || texts.length >= maxSkills) continue;
        if (skill.instructions.length + MARGIN > room) {
          texts.push(`The skill '${skill.name}' fits this prompt (${reason}); the skill tool of haversack loads it.`);
          continue;
        }
        this.#ledger.by = "auto";
        const loaded = this.#skills.load(skill.name, { ledger: this.#ledger });
        this.#ledger.by = "tool";
        if (loaded.kind !== "loaded") continue;
        const text = skillMessage(skill.name, loaded.text, { by: "auto", reason });
        texts.push(text);
        room -= text.length + 2;
        onEvent?.({ type: "skill-loaded", skill: skill.name, by: "auto", reason, confidence, tokens: loaded.tokens });
      }
    } catch (error) {
      onEvent?.({ type: "warning", text: `skills were not loaded: ${errorText(error)}` });
    }
    if (texts.length === 0) return {};
    return { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: texts.join("\n\n") } };
  };
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
  readonly #session: ClaudeSession;
  #transport: Transport | undefined;

  constructor(session: ClaudeSession) {
    this.#session = session;
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
    const { tool } = this.#session;
    switch (method) {
      case "initialize":
        return {
          protocolVersion: params["protocolVersion"] ?? "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "haversack", version: "1" },
        };
      case "ping":
        return {};
      case "tools/list": {
        const { inputSchema } = tool.toTool() as unknown as { inputSchema: { jsonSchema: unknown } };
        return {
          tools: [
            {
              name: tool.name,
              description: tool.description,
              inputSchema: await inputSchema.jsonSchema,
              annotations: { readOnlyHint: true },
            },
          ],
        };
      }
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
