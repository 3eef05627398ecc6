/** Puts an agent system together: agents, skills, tools, a model. */
import { resolve } from "node:path";
import type { LanguageModel, ToolSet } from "ai";
import { errorText } from "../base/errors.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { isRecord } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import {
  type AgentDefinition,
  type AgentInput,
  agentFromCode,
  codeProblems,
  type ReadAgents,
  readAgentFolder,
} from "./agent-file.ts";
import { type AgentSystemOptions, checkConfig, DEFAULT_CONFIG, mergeConfig } from "./config.ts";
import { type ConversationStore, Conversations } from "./conversations.ts";
import { AgentError, type AgentProblem, problemsError } from "./errors.ts";
import { type AgentLogger, noLogger } from "./events.ts";
import { AgentExecutor, AgentRegistry } from "./executor.ts";
import { fileTools } from "./file-tools.ts";
import type { AgentMiddleware } from "./middleware.ts";
import { unsupported } from "./pending-calls.ts";
import { SkillCache } from "./skill-cache.ts";
import { SkillRegistry } from "./skill-registry.ts";
import { SkillTool } from "./skill-tool.ts";

/** A model for all agents, or a function that chooses one by the agent, for example by its `model`. */
export type ModelChoice = LanguageModel | ((agent: AgentDefinition) => LanguageModel | undefined);

export interface AgentSystem {
  executor: AgentExecutor;
  /** The agents. */
  registry: AgentRegistry;
  skills: SkillRegistry;
  /** The cache of skills, by conversation. */
  cache: SkillCache;
  /** Waits for running turns and closes the store. */
  close(): Promise<void>;
}

export class AgentSystemBuilder {
  readonly #agentFolders: string[] = [];
  readonly #agents: AgentDefinition[] = [];
  readonly #skillFolders: string[] = [];
  readonly #tools: ToolSet = {};
  readonly #middlewares: AgentMiddleware[] = [];
  #root: string | undefined;
  #hasSkillTool = false;
  #model: ModelChoice | undefined;
  readonly #options: AgentSystemOptions[] = [];
  #store: ConversationStore | undefined;
  #logger: AgentLogger = noLogger;

  /**
   * With the tools `skill`, `read`, `write` and `grep`, and with skills that are loaded when a task needs them. The model sees `skill` only if there
   * are skills.
   */
  static default({
    root = process.cwd(),
  }: {
    /** The folder that the file tools cannot leave. Default: the working directory. */ root?: string;
  } = {}): AgentSystemBuilder {
    const builder = new AgentSystemBuilder();
    builder.#root = realFolder(root);
    builder.#hasSkillTool = true;
    return builder.withConfig({ skills: { autoTrigger: { enabled: true } } });
  }

  /** All agents of a folder of markdown files. */
  withAgentsFrom(folder: string): this {
    this.#agentFolders.push(resolve(folder));
    return this;
  }

  /** An agent from code. */
  withAgent(agent: AgentInput): this {
    this.#agents.push(agentFromCode(agent));
    return this;
  }

  /** Folders of skills, nearest first. */
  withSkillsFrom(...folders: string[]): this {
    this.#skillFolders.push(...folders.map((folder) => resolve(folder)));
    this.#hasSkillTool = true;
    return this;
  }

  withModel(model: ModelChoice): this {
    this.#model = model;
    return this;
  }

  /** Tools of the AI SDK by name. A tool with the name of an existing one replaces it, also `skill`. */
  withTools(tools: ToolSet): this {
    Object.assign(this.#tools, tools);
    return this;
  }

  /** Changes the settings that you name; may be called again. `build` throws if one is unknown or has a wrong value. */
  withConfig(options: AgentSystemOptions): this {
    this.#options.push(options);
    return this;
  }

  /** Keeps conversations beyond the process. Without a store nothing is written to disk. */
  withStore(store: ConversationStore): this {
    this.#store = store;
    return this;
  }

  withLogger(logger: AgentLogger): this {
    this.#logger = logger;
    return this;
  }

  /** Adds a middleware after the existing ones, nearest to the model. */
  use(middleware: AgentMiddleware): this {
    this.#middlewares.push(middleware);
    return this;
  }

  /** Reads agents and skills. Throws an AgentError that names the file and the field if an agent cannot be used. */
  async build(): Promise<AgentSystem> {
    const model = this.#model;
    if (!model || !isModelChoice(model))
      throw new AgentError(
        "model-unknown",
        model ? "The value given to withModel is not a model." : "The system has no model.",
        {
          hint: 'Call withModel with a model of the AI SDK, such as openai("gpt-5").',
        },
      );
    for (const options of this.#options) checkConfig(options);
    const config = this.#options.reduce(mergeConfig, DEFAULT_CONFIG);
    const skills = new SkillRegistry(this.#skillFolders, { refreshMs: config.skills.refreshMs });
    const missing = skills.problems.find(({ code }) => code === "source-missing" || code === "source-not-a-folder");
    if (missing)
      throw new AgentError("skills-missing", `${missing.file} is not a folder of skills.`, {
        hint: "Give withSkillsFrom a folder that exists; a relative path is resolved against the working directory.",
        file: missing.file,
      });
    const tools: ToolSet = {
      ...(this.#hasSkillTool && { skill: new SkillTool(skills).toTool() as ToolSet[string] }),
      ...(this.#root !== undefined && fileTools(this.#root, skills)),
      ...this.#tools,
    };
    refuseUnsupported(tools);
    const { agents, problems, warnings } = this.#readAgents({ tools, model, skills });
    const log = (text: string) => this.#logger.log({ type: "warning", agent: "", conversationId: "", text });
    if (problems.length > 0 && config.agents.onInvalid === "throw") throw problemsError(problems);
    for (const { file, field, text, hint } of [...problems, ...warnings])
      log(`${[file, field].filter(Boolean).join(": ")}: ${text}. ${hint}`);
    for (const { level, file, text } of skills.problems) if (level === "error") log(`${file}: ${text}`);

    const registry = new AgentRegistry(agents);
    const cache = new SkillCache({ maxConversations: config.limits.maxConversations });
    const executor = new AgentExecutor({
      registry,
      skills,
      cache,
      config,
      logger: this.#logger,
      middlewares: [...this.#middlewares],
      conversations: new Conversations({
        maxConversations: config.limits.maxConversations,
        ttlMs: config.limits.conversationTtlMs,
        store: this.#store,
        onUnsaved: (conversationId, error) =>
          this.#logger.log({
            type: "warning",
            agent: "",
            conversationId,
            text: `the conversation was not saved: ${errorText(error)}`,
          }),
      }),
      modelOf: (agent) => modelFor(agent, model),
      toolsOf: (agent) => ({
        tools: Object.fromEntries(Object.entries(tools).filter(([name]) => mayUse(agent, name, tools))),
        canDelegate: agents.length > 1 && !tools["delegate"] && mayUse(agent, "delegate", tools),
      }),
    });
    return { executor, registry, skills, cache, close: () => executor.close() };
  }

  #readAgents({ tools, model, skills }: { tools: ToolSet; model: ModelChoice; skills: SkillRegistry }): ReadAgents {
    const reads = this.#agentFolders.map((folder) => readAgentFolder(folder));
    const problems = reads.flatMap((read) => read.problems);
    const agents = new Map<string, AgentDefinition>();
    for (const agent of [...this.#agents, ...reads.flatMap((read) => read.agents)]) {
      const other = agents.get(agent.name);
      const wrong = agent.file === "code" ? codeProblems(agent) : [];
      const own =
        wrong.length > 0
          ? wrong
          : other
            ? [duplicate(agent, other)]
            : [...toolProblems(agent, tools), ...skillProblems(agent, skills), ...modelProblems(agent, model)];
      problems.push(...own);
      if (own.length === 0) agents.set(agent.name, agent);
    }
    return { agents: [...agents.values()], problems, warnings: reads.flatMap((read) => read.warnings) };
  }
}

/** Without links, because the file tools refuse those that lead out of the folder. */
function realFolder(path: string): string {
  try {
    return diskFileSystem.realpath(resolve(path));
  } catch {
    // It may be made later.
    return resolve(path);
  }
}

/** A model, the name of one, or a function that chooses one. */
function isModelChoice(given: unknown): boolean {
  return typeof given === "string" || typeof given === "function" || (isRecord(given) && "doGenerate" in given);
}

/** A turn must run to its end without input: a call that waits for somebody would leave a conversation that no provider accepts. */
function refuseUnsupported(tools: ToolSet): void {
  for (const [name, tool] of Object.entries(tools)) {
    const problem = tool ? unsupported(tool) : { text: "is missing", hint: "Give withTools a tool of the AI SDK." };
    if (problem)
      throw new AgentError("tool-unsupported", `The tool '${name}' ${problem.text}.`, {
        hint: problem.hint,
        field: name,
      });
  }
}

function duplicate({ name, file }: AgentDefinition, other: AgentDefinition): AgentProblem {
  return {
    code: "agent-duplicate",
    file,
    field: "name",
    text: `'${name}' is also the name of the agent ${other.file === "code" ? "given to withAgent" : `in ${other.file}`}`,
    hint: "Give one of them another name.",
  };
}

/** The tool that an agent means: the one with exactly this name, else one that differs only in case. */
function toolNamed(name: string, tools: ToolSet): string | undefined {
  const known = [...Object.keys(tools), "delegate"];
  const lower = name.toLowerCase();
  return known.includes(name) ? name : known.find((one) => one.toLowerCase() === lower);
}

function toolProblems({ tools: names, file }: AgentDefinition, tools: ToolSet): AgentProblem[] {
  if (names === "*") return [];
  const known = [...Object.keys(tools), "delegate"];
  return names
    .filter((name) => toolNamed(name, tools) === undefined)
    .map((name) => {
      const [guess] = nearest(name, known);
      return {
        code: "tool-unknown",
        file,
        field: "tools",
        text: `there is no tool '${name}'`,
        hint: `${guess ? `Did you mean '${guess}'? ` : ""}Register it with withTools({ ${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: … }), or remove it from the file. The tools are ${known.join(", ")}.`,
      };
    });
}

function skillProblems({ skills: names, file }: AgentDefinition, skills: SkillRegistry): AgentProblem[] {
  const known = skills.listSkills().map(({ name }) => name);
  return names
    .filter((name) => !skills.getSkill(name))
    .map((name) => {
      const [guess] = nearest(name, known);
      const from = known.length === 0 ? "Name their folder with withSkillsFrom, or remove" : "Correct or remove";
      return {
        code: "skills-missing",
        file,
        field: "skills",
        text: `there is no skill '${name}'`,
        hint: `${guess ? `Did you mean '${guess}'? ` : ""}${from} it.`,
      };
    });
}

function modelProblems(agent: AgentDefinition, model: ModelChoice): AgentProblem[] {
  try {
    modelFor(agent, model);
    return [];
  } catch (error) {
    const { message, hint } = error as AgentError;
    return [{ code: "model-unknown", file: agent.file, field: "model", text: message, hint }];
  }
}

function modelFor(agent: AgentDefinition, model: ModelChoice): LanguageModel {
  if (typeof model !== "function") return model;
  const wanted = agent.model ? `the model '${agent.model}' of ${agent.name}` : `${agent.name}, which names no model`;
  let chosen: LanguageModel | undefined;
  let cause: unknown;
  try {
    chosen = model(agent);
  } catch (error) {
    cause = error;
  }
  if (chosen) return chosen;
  throw new AgentError(
    "model-unknown",
    `withModel has no model for ${wanted}${cause ? ` (${errorText(cause)})` : ""}`,
    {
      hint: "Return a model for it from the function that you give to withModel, or change `model` in the agent's file.",
      agent: agent.name,
      file: agent.file,
      field: "model",
      ...(cause !== undefined && { cause }),
    },
  );
}

function mayUse({ tools: allowed, disallowedTools = [] }: AgentDefinition, tool: string, tools: ToolSet): boolean {
  const names = (list: readonly string[]) => list.some((name) => toolNamed(name, tools) === tool);
  return (allowed === "*" || names(allowed)) && !names(disallowedTools);
}
