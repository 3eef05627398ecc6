/**
 * The `skill` tool: its description is a catalogue of the skills within a token budget, and a call returns a skill's text once per
 * conversation, a resource, or the skills that fit a question.
 */
import { jsonSchema, type Tool } from "ai";
import { cleanLine } from "../base/clean-text.ts";
import { isRecord } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import type { SkillText } from "../engine/library-types.ts";
import type { LoadLedger } from "../engine/load-skill.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { AgentEventDetails } from "./events.ts";
import type { SkillCache } from "./skill-cache.ts";
import type { SkillRegistry, SkillResources } from "./skill-registry.ts";

export interface SkillToolInput {
  /** The skill to load. */
  name?: string;
  /** List the names of its resources. Default: true. */
  includeResources?: boolean;
  /** Read one of the skill's resources instead, such as `reference/markers.md`. */
  resource?: string;
  /** Send the text again although the conversation has it. Default: false. */
  reload?: boolean;
  /** Search for skills instead of loading one. */
  query?: string;
}

export interface SkillToolResult {
  success: boolean;
  /** What the model reads: the skill, a resource, or why there is none. */
  output: string;
  resources?: SkillResources;
}

export interface SkillToolOptions {
  cache?: SkillCache;
  /** The conversation of calls that name none. */
  conversationId?: string;
  /** What the conversation has been shown. With it, a text is sent once. */
  ledger?: LoadLedger;
  /** Maximum number of tokens of the catalogue in the description, and of the names in the answer to an unknown name. Default: 1,500. */
  catalogueTokens?: number;
  /** The name of a tool that reads files in the skills' folders. Default: none; the model is told to use `resource`. */
  readTool?: string;
  onEvent?: (event: AgentEventDetails) => void;
}

export class SkillTool {
  readonly name = "skill";
  readonly #registry: SkillRegistry;
  readonly #options: SkillToolOptions;

  constructor(registry: SkillRegistry, options: SkillToolOptions = {}) {
    this.#registry = registry;
    this.#options = options;
  }

  /** Follows the registry: it changes when the skills do, and only then, because a changed description ends the provider's prompt cache. */
  get description(): string {
    const budget = this.#options.catalogueTokens ?? CATALOGUE_TOKENS;
    const { version } = this.#registry;
    const known = CATALOGUES.get(this.#registry);
    if (known?.version === version && known.budget === budget) return known.text;
    const text = this.#describe(budget);
    CATALOGUES.set(this.#registry, { version, budget, text });
    return text;
  }

  async execute(input: SkillToolInput, { conversationId }: { conversationId?: string } = {}): Promise<SkillToolResult> {
    const problem = inputProblem(input);
    if (problem) return { success: false, output: `${problem} ${this.#names()}` };
    if (input.query !== undefined && !input.name) return this.#search(input.query);
    const name = input.name ?? "";
    if (input.resource !== undefined) return this.#resource(name, input.resource);
    return this.#load(name, input, conversationId ?? this.#options.conversationId);
  }

  /** For `tools` of generateText, streamText and agents of the AI SDK. The model gets the output as text. */
  toTool(): Tool<SkillToolInput, SkillToolResult> {
    const made = {
      description: () => this.description,
      inputSchema: jsonSchema<SkillToolInput>(SKILL_INPUT_SCHEMA, { validate: validateInput }),
      execute: (input: SkillToolInput) => this.execute(input),
      toModelOutput: ({ output }: { output: SkillToolResult }) => ({
        type: output.success ? ("text" as const) : ("error-text" as const),
        value: output.output,
      }),
    } as Tool<SkillToolInput, SkillToolResult>;
    MADE.set(made, this.#registry);
    return made;
  }

  async #load(name: string, input: SkillToolInput, conversationId: string | undefined): Promise<SkillToolResult> {
    const { cache, ledger, onEvent, readTool } = this.#options;
    const skill = this.#registry.getSkill(name);
    if (!skill) return this.#unknown(name);
    const includeResources = input.includeResources ?? true;
    const cached = conversationId === undefined ? undefined : cache?.get(conversationId, skill.name);
    const isSame = cached?.skill.hash === skill.hash;
    let loaded: SkillText;
    try {
      loaded = this.#registry.load(skill.name, {
        ledger,
        conversationId,
        reload: input.reload ?? false,
        includeResources,
        readHint: readTool
          ? `Use the ${readTool} tool to access these resources.`
          : `To read one: skill({ name: "${skill.name}", resource: "…" }).`,
      });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      onEvent?.({ type: "skill-failed", skill: skill.name, by: "tool", text });
      return { success: false, output: `Skill '${skill.name}' cannot be loaded: ${text}` };
    }
    if (conversationId !== undefined && !isSame) cache?.set(conversationId, skill.name, skill);
    const reason = ASKED;
    if (loaded.kind === "loaded" && !isSame)
      onEvent?.({ type: "skill-loaded", skill: skill.name, by: "tool", reason, tokens: loaded.tokens });
    else onEvent?.({ type: "skill-cached", skill: skill.name, by: "tool", reason, sent: loaded.kind === "loaded" });
    return {
      success: loaded.kind !== "unknown",
      output:
        loaded.kind === "already-loaded"
          ? `Skill '${skill.name}' is already in this conversation, unchanged. To get its text again: skill({ name: "${skill.name}", reload: true }).`
          : loaded.text,
      ...(includeResources && { resources: await skill.getResources() }),
    };
  }

  #resource(name: string, path: string): SkillToolResult {
    if (!this.#registry.getSkill(name)) return this.#unknown(name);
    const read = this.#registry.readResource(name, path);
    if (read.kind !== "text") return { success: false, output: read.text };
    const cut = read.cutFrom === undefined ? "" : `\n\n(The first ${read.text.length} of ${read.cutFrom} characters.)`;
    return { success: true, output: read.text + cut };
  }

  #search(query: string): SkillToolResult {
    const found = this.#registry.match(query, { limit: 8 }).filter(({ card }) => card.modelInvocable);
    if (found.length === 0) return { success: true, output: `No skill fits “${cleanLine(query, { maxChars: 200 })}”.` };
    const lines = found.map(({ card }) => `  - ${card.id}: ${card.brief}`);
    return { success: true, output: `Skills that may fit, best first:\n${lines.join("\n")}` };
  }

  #unknown(name: string): SkillToolResult {
    const shown = cleanLine(name, { maxChars: 200 });
    return { success: false, output: `Skill '${shown}' not found.\n\n${this.#names(name)}` };
  }

  /** All names if they fit the budget, otherwise the nearest names and the total number. */
  #names(name = ""): string {
    const skills = this.#listed();
    if (skills.length === 0) return "No skill is installed.";
    const budget = this.#options.catalogueTokens ?? CATALOGUE_TOKENS;
    for (const lines of [skills.map((skill) => described(skill)), skills.map(({ name: own }) => `  - ${own}`)]) {
      const text = `Available skills:\n${lines.join("\n")}\n\nUse one of the above skill names.`;
      if (estimateTokens(text) <= budget) return text;
    }
    const near = nearest(
      name,
      skills.map(({ name: own }) => own),
    );
    const nearLines = skills.filter((skill) => near.includes(skill.name)).map((skill) => described(skill));
    const list = nearLines.length > 0 ? `Nearest names:\n${nearLines.join("\n")}\n\n` : "";
    return `${list}${skills.length} skills are available. To search them: skill({ query: "what you need" }).`;
  }

  #listed() {
    return this.#registry.listSkills().filter(({ modelInvocable }) => modelInvocable);
  }

  #describe(budget: number): string {
    const skills = this.#listed();
    const whole = (catalogue: string) => `${INTRODUCTION}\n\n${catalogue}`;
    if (skills.length === 0) return whole("No skill is installed.");
    const names = skills.map(({ name }) => name);
    const forms = [
      `Available skills:\n${skills.map((skill) => described(skill)).join("\n")}`,
      `Available skills:\n${skills.map((skill) => described(skill, 60)).join("\n")}`,
      `Available skills: ${names.join(", ")}`,
    ];
    const fitting = forms.find((form) => estimateTokens(whole(form)) <= budget);
    return whole(
      fitting ??
        `${skills.length} skills are available. To find one: skill({ query: "what you need" }), then load it by name.`,
    );
  }
}

const CATALOGUE_TOKENS = 1_500;
/** Why a skill is loaded that the model called. */
export const ASKED = "the model asked for it";
/** The tools that `toTool` made. */
const MADE = new WeakMap<object, SkillRegistry>();

/** Whether a tool loads the skills of this registry. People also have tools of their own that are called `skill`. */
export function isSkillTool(tool: object | undefined, registry: SkillRegistry): boolean {
  return tool !== undefined && MADE.get(tool) === registry;
}
/** The last description of each registry: every turn of every conversation has a tool of its own, and all have the same. */
const CATALOGUES = new WeakMap<SkillRegistry, { version: number; budget: number; text: string }>();

const INTRODUCTION = `Loads expertise on demand: guidelines, templates and methods for a kind of task.
skill({ name }) returns the instructions of a skill and the names of its resources; skill({ name, resource }) returns one of its files.`;

function described({ name, shortDescription }: { name: string; shortDescription: string }, chars = 160): string {
  const text =
    shortDescription.length > chars ? `${shortDescription.slice(0, chars - 1).trimEnd()}…` : shortDescription;
  return text === "" ? `  - ${name}` : `  - ${name}: ${text}`;
}

/** Of the arguments, as JSON Schema. */
export const SKILL_INPUT_SCHEMA = {
  type: "object" as const,
  properties: {
    name: { type: "string" as const, description: "Name of the skill" },
    includeResources: { type: "boolean" as const, description: "List the names of its resources (default: true)" },
    resource: { type: "string" as const, description: "Read this resource of the skill instead of its instructions" },
    reload: { type: "boolean" as const, description: "Send the text again although it was loaded before" },
    query: { type: "string" as const, description: "Search for skills by what you need" },
  },
  additionalProperties: false,
};

function inputProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'Call it with an object, such as { name: "skill-name" }.';
  const isText = (key: string) => input[key] === undefined || typeof input[key] === "string";
  const wrong = ["name", "resource", "query"].find((key) => !isText(key));
  if (wrong) return `\`${wrong}\` must be text.`;
  if (!input["name"] && !input["query"]) return "Give the `name` of a skill, or a `query`.";
  return undefined;
}

/** Rejects wrong types, but not a missing name, because the answer to that lists the names. */
function validateInput(value: unknown): { success: true; value: SkillToolInput } | { success: false; error: Error } {
  if (isRecord(value)) return { success: true, value: value as SkillToolInput };
  return { success: false, error: new TypeError('skill takes an object, such as { name: "skill-name" }') };
}
