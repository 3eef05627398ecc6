/**
 * Agents from markdown files with frontmatter. Also reads files written for other tools: `tools` as a list, a comma string or `*`, names in any case,
 * keys in camelCase or snake_case. Whatever cannot be used is reported with its file and field.
 */
import { join, resolve } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { diskFileSystem, type FileSystem } from "../base/file-system.ts";
import { readFrontmatter } from "../base/frontmatter.ts";
import { isRecord } from "../base/json.ts";
import { editDistance } from "../base/nearest.ts";
import { plainKey, readLine, readTexts } from "../skills/rules/rule-values.ts";
import { checkSettings, countFrom, type Kinds, numberFrom, oneOf } from "./check-settings.ts";
import { AgentError, type AgentProblem } from "./errors.ts";

export type ReasoningLevel = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

export interface AgentDefinition {
  name: string;
  description: string;
  /** The system prompt: the body of the file. */
  instructions: string;
  /** As written in `model`, for the function that you give to `withModel`. */
  model?: string;
  /** Names of tools as written; `"*"`: all. A name selects the tool with exactly that name, otherwise one that differs only in case. Default: all. */
  tools: readonly string[] | "*";
  /** Names of tools that it does not get, found like those of `tools`. Unknown ones do no harm. */
  disallowedTools?: readonly string[];
  /** Skills that are loaded at the start. They cost their tokens in every conversation; prefer triggers. */
  skills: readonly string[];
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  /** `json` asks for a JSON object. */
  responseFormat?: "text" | "json";
  reasoning?: ReasoningLevel;
  /** Kept for you; nothing here depends on them. */
  permissionMode?: string;
  color?: string;
  /** Absolute, or `code`. */
  file: string;
}

/** An agent that you define in code: a name and instructions are enough. */
export type AgentInput = Pick<AgentDefinition, "name" | "instructions"> & Partial<Omit<AgentDefinition, "file">>;

export interface ReadAgents {
  agents: AgentDefinition[];
  problems: AgentProblem[];
  /** Keys that have no effect here. The agents can be used. */
  warnings: AgentProblem[];
}

/** All `.md` files of a folder. Files without frontmatter, such as a README, are left out. */
export function readAgentFolder(folder: string, fs: FileSystem = diskFileSystem): ReadAgents {
  const dir = resolve(folder);
  const agents: AgentDefinition[] = [];
  const problems: AgentProblem[] = [];
  const warnings: AgentProblem[] = [];
  let names: string[];
  try {
    names = fs
      .readDir(dir)
      .filter(({ name, kind }) => name.toLowerCase().endsWith(".md") && (kind === "file" || kind === "link"))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    const text = `the folder of agents cannot be read: ${errorText(error)}`;
    const hint = "Give withAgentsFrom a folder that exists; a relative path is resolved against the working directory.";
    return { agents, problems: [{ code: "agent-invalid", file: dir, text, hint }], warnings };
  }
  for (const name of names) {
    const file = join(dir, name);
    try {
      const read = parseAgent(fs.readFile(file), file);
      if (!read) continue;
      if (read.agent) agents.push(read.agent);
      problems.push(...read.problems);
      warnings.push(...read.warnings);
    } catch (error) {
      problems.push({
        code: "agent-invalid",
        file,
        text: `cannot be read: ${errorText(error)}`,
        hint: "Check its permissions, or move it out of the folder of agents.",
      });
    }
  }
  return { agents, problems, warnings };
}

/** Undefined: the file has no frontmatter, so it is not an agent. */
export function parseAgent(
  text: string,
  file: string,
): { agent?: AgentDefinition; problems: AgentProblem[]; warnings: AgentProblem[] } | undefined {
  const { data, body, problems: headerProblems } = readFrontmatter(text);
  if (headerProblems.some(({ code }) => code === "frontmatter-missing" || code === "frontmatter-not-a-map"))
    return undefined;
  const problems: AgentProblem[] = headerProblems
    .filter(({ level }) => level === "error")
    .map(({ text: what, where }) => ({
      code: "agent-invalid" as const,
      file,
      ...(where && { field: where }),
      text: what,
      hint: "Fix the frontmatter between the two --- lines.",
    }));
  const report = (field: string, what: string, hint: string) =>
    void problems.push({ code: "agent-invalid", file, field, text: what, hint });
  const read = new Fields(data, report);
  const warnings = unknownKeys(Object.keys(data), { file, report });

  const name = read.line("name");
  if (name === undefined) report("name", "an agent needs a name", "Add `name: my-agent` to its frontmatter.");
  else if (!/^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,63}$/u.test(name))
    report("name", `“${name}” is not a valid name`, "Use letters, digits and dashes, at most 64.");
  const instructions = body.trim();
  if (instructions === "")
    report("body", "the file has no text below its frontmatter", "Write the agent's instructions there.");
  const model = read.line("model");
  const temperature = read.number("temperature", 0, 2) ?? behaviorTemperature(read);
  const topP = read.number("topp", 0, 1);
  const maxOutputTokens = read.number("maxoutputtokens", 1, 10_000_000) ?? read.number("maxtokens", 1, 10_000_000);
  const responseFormat = readResponseFormat(read);
  const reasoning = readReasoning(read);
  const permissionMode = read.line("permissionmode");
  const color = read.line("color");
  const tools = toolNames(read.names("tools") ?? ["*"]);
  const disallowedTools = toolNames(read.names("disallowedtools") ?? []);
  const skills = read.names("skills") ?? [];
  if (problems.length > 0) return { problems, warnings };
  return {
    problems,
    warnings,
    agent: {
      name: name!,
      description: read.line("description") ?? "",
      instructions,
      ...(model && model !== "inherit" && { model }),
      tools: tools.includes("*") ? "*" : tools,
      ...(disallowedTools.length > 0 && { disallowedTools }),
      skills,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(responseFormat && { responseFormat }),
      ...(reasoning && { reasoning }),
      ...(permissionMode && { permissionMode }),
      ...(color && { color }),
      file,
    },
  };
}

export function agentFromCode(input: AgentInput): AgentDefinition {
  return { description: "", tools: "*", skills: [], ...input, file: "code" };
}

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const TEXT = { must: "text", isRight: isText };
const CODE_KINDS: Kinds = {
  name: { must: "text that is not empty", isRight: isText },
  instructions: { must: "text that is not empty", isRight: isText },
  description: { must: "text", isRight: (value) => typeof value === "string" },
  model: TEXT,
  tools: { must: 'a list of names, or "*"', isRight: (value) => value === "*" || isTexts(value) },
  disallowedTools: { must: "a list of names", isRight: isTexts },
  skills: { must: "a list of names", isRight: isTexts },
  temperature: numberFrom(0, 2),
  topP: numberFrom(0, 1),
  maxOutputTokens: countFrom(1),
  responseFormat: oneOf("text", "json"),
  reasoning: oneOf("none", "minimal", "low", "medium", "high", "xhigh"),
  permissionMode: TEXT,
  color: TEXT,
  file: TEXT,
};

/** What is wrong with an agent from code. */
export function codeProblems(agent: AgentDefinition): AgentProblem[] {
  try {
    const { name, instructions } = agent;
    checkSettings({ ...agent, name: name ?? "", instructions: instructions ?? "" }, CODE_KINDS, {
      of: `withAgent(${JSON.stringify(name)})`,
    });
    return [];
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const { message, hint, field = "" } = error;
    return [{ code: "agent-invalid", file: "code", field, text: message, hint }];
  }
}

const KEYS: readonly string[] = [
  ...["name", "description", "model", "tools", "skills", "temperature", "behavior", "top_p", "max_output_tokens"],
  ...["max_tokens", "response_format", "thinking", "reasoning", "permissionMode", "color", "disallowedTools"],
];
/** Keys of other tools' agent files that look like a misspelt key of ours. */
const KEYS_OF_OTHERS: ReadonlySet<string> = new Set(["mode", "colour"]);

/**
 * A key that is nearly one of ours is a problem: with `tols: [read]` the agent would have all tools. Other unknown keys belong to other tools,
 * and are returned as warnings.
 */
function unknownKeys(keys: readonly string[], { file, report }: { file: string; report: Report }): AgentProblem[] {
  const known = new Map(KEYS.map((key) => [plainKey(key), key]));
  return keys.flatMap((key) => {
    const plain = plainKey(key);
    if (known.has(plain)) return [];
    const field = cleanLine(key, { maxChars: 60 });
    const bound = Math.max(1, Math.floor(plain.length / 3));
    const [near] = KEYS_OF_OTHERS.has(plain)
      ? []
      : [...known.keys()].filter((one) => editDistance(plain, one, bound) <= bound);
    if (near !== undefined) {
      report(field, "is an unknown key", `Did you mean \`${known.get(near)}\`? Correct or remove it.`);
      return [];
    }
    const hint = `The keys are ${KEYS.join(", ")}.`;
    return [{ code: "agent-invalid" as const, file, field, text: "is an unknown key and has no effect", hint }];
  });
}

type Report = (field: string, text: string, hint: string) => void;

class Fields {
  /** By plain key: the key as it is written, and the value. */
  readonly #fields: ReadonlyMap<string, [key: string, value: unknown]>;
  readonly report: Report;

  constructor(data: Record<string, unknown>, report: Report) {
    this.#fields = new Map(Object.entries(data).map((entry) => [plainKey(entry[0]), entry]));
    this.report = report;
  }

  get(key: string): unknown {
    return this.#fields.get(key)?.[1] ?? undefined;
  }

  line(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const line = readLine(value);
    if (line === undefined) this.#refuse(key, "must be text", (name) => `Write \`${name}: text\` on one line.`);
    return line === "" ? undefined : line;
  }

  /** A list, or comma-separated names. */
  names(key: string): string[] | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    // `Bash(git add:*, git diff)` is one name with its permissions.
    const texts = typeof value === "string" ? value.split(/,(?![^()]*\))/) : readTexts(value)?.items;
    if (!texts) this.#refuse(key, "must be a list of names", (name) => `Write \`${name}: [one, two]\`.`);
    return [...new Set(texts?.map((text) => cleanLine(text, { maxChars: 128 })).filter((text) => text !== ""))];
  }

  number(key: string, least: number, most: number): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const number = typeof value === "string" ? Number(value) : value;
    if (typeof number === "number" && number >= least && number <= most) return number;
    const shown = cleanLine(String(value), { maxChars: 60 });
    this.#refuse(key, `“${shown}” is not a number from ${least} to ${most}`, () => "Correct or remove it.");
    return undefined;
  }

  #refuse(key: string, text: string, hint: (name: string) => string): void {
    const name = cleanLine(this.#fields.get(key)?.[0] ?? key, { maxChars: 60 });
    this.report(name, text, hint(name));
  }
}

/** Words for a temperature. */
const BEHAVIORS: Readonly<Record<string, number>> = { deterministic: 0, precise: 0.2, balanced: 0.5, creative: 0.9 };

function behaviorTemperature(read: Fields): number | undefined {
  const behavior = read.line("behavior")?.toLowerCase();
  if (behavior === undefined) return undefined;
  const temperature = BEHAVIORS[behavior];
  if (temperature === undefined)
    read.report(
      "behavior",
      `“${behavior}” is unknown`,
      `Use one of ${Object.keys(BEHAVIORS).join(", ")}, or \`temperature\`.`,
    );
  return temperature;
}

function readResponseFormat(read: Fields): "text" | "json" | undefined {
  const value = read.get("responseformat");
  if (value === undefined) return undefined;
  const word = readLine(isRecord(value) ? value["type"] : value)?.toLowerCase();
  if (word === "text" || word === "markdown") return "text";
  if (word === "json" || word === "json_object") return "json";
  read.report(
    "response_format",
    "is neither text nor json",
    "Write `response_format: text` or `response_format: json`.",
  );
  return undefined;
}

const REASONING: readonly ReasoningLevel[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** `thinking: true`, `thinking: high`, or `{ type: enabled, budget_tokens: 8000 }`. */
function readReasoning(read: Fields): ReasoningLevel | undefined {
  const value = read.get("thinking") ?? read.get("reasoning");
  if (value === undefined) return undefined;
  if (typeof value === "boolean") return value ? "medium" : "none";
  if (isRecord(value)) {
    const isOn = value["enabled"] !== false && value["type"] !== "disabled";
    const tokens = Number(value["budget_tokens"] ?? value["budgetTokens"] ?? 8_000);
    return !isOn ? "none" : tokens <= 2_000 ? "low" : tokens <= 10_000 ? "medium" : "high";
  }
  const word = String(value).toLowerCase();
  const level =
    word === "enabled" ? "medium" : word === "disabled" ? "none" : REASONING.find((known) => known === word);
  if (!level) read.report("thinking", `“${word}” is unknown`, `Use true, false or one of ${REASONING.join(", ")}.`);
  return level;
}

/** Names of tools that other tools' agent files use for ours. */
const ALIASES: Readonly<Record<string, string>> = { agent: "delegate", task: "delegate" };

function toolNames(names: readonly string[]): string[] {
  const plain = names.map((name) => name.replace(/\s*\(.*$/, ""));
  return [...new Set(plain.map((name) => ALIASES[name.toLowerCase()] ?? name))];
}
