/**
 * The one table of settings: type, default, bounds and meaning. The types, the reader, the published JSON Schema and the docs page derive
 * from it. It is plain data rather than a schema library, because the hook reads settings too and cannot afford one (zod alone costs
 * 13 ms per process).
 */
export interface Setting<T> {
  type: "boolean" | "integer" | "number" | "string" | "strings";
  default: T;
  about: string;
  /** The unit of a number, for messages and docs. */
  unit?: string;
  minimum?: number;
  maximum?: number;
  choices?: readonly string[];
}

function setting<T extends boolean | number | string | readonly string[]>(value: Setting<T>): Setting<T> {
  return value;
}

export const SETTINGS = {
  "skills.folders": setting<readonly string[]>({
    type: "strings",
    default: [],
    about: "Further folders with skills; relative ones start at the project's root.",
  }),
  "skills.max_skills": setting<number>({
    type: "integer",
    default: 3,
    minimum: 1,
    maximum: 10,
    about: "Maximum number of skills shown for one prompt.",
  }),
  "skills.recommend_threshold": setting<number>({
    type: "number",
    default: 0.4,
    minimum: 0,
    maximum: 1,
    about: "Minimum confidence for recommending a skill. A rule's own threshold takes precedence.",
  }),
  "skills.auto_load_threshold": setting<number>({
    type: "number",
    default: 0.6,
    minimum: 0,
    maximum: 1,
    about:
      "Minimum confidence for loading a skill's text unasked, if skills.auto_load is confident. A skill's own triggers.confidence takes precedence.",
  }),
  "skills.auto_load": setting<"asked" | "confident">({
    type: "string",
    default: "asked",
    choices: ["asked", "confident"],
    about:
      "When a skill's text is loaded unasked. asked: the prompt names the skill, or its author's rule says auto. confident: also for matches above skills.auto_load_threshold.",
  }),
  "skills.enforce": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Let rules with the enforcement block or require take full effect. Off: they only warn.",
  }),
  "skills.judge_url": setting<string>({
    type: "string",
    default: "",
    about:
      "Address of an OpenAI-compatible embeddings endpoint, such as http://127.0.0.1:11434/v1/embeddings. The running MCP server sends it the prompt and the descriptions of matching skills, and ranks by its answer. Only in your own config; empty: nothing is sent.",
  }),
  "skills.judge_model": setting<string>({
    type: "string",
    default: "",
    about: "The model that skills.judge_url is asked for, such as nomic-embed-text. Only in your own config.",
  }),
  "skills.judge_key_env": setting<string>({
    type: "string",
    default: "",
    about:
      "Name of the environment variable with the API key for skills.judge_url. Empty: no key. Only in your own config.",
  }),
  "skills.learn": setting<boolean>({
    type: "boolean",
    default: false,
    about:
      "Learn from use in this project: skills that were used when shown, or searched for, rank a little higher, and ignored ones a little lower. `haversack skill learned` shows what was learned.",
  }),
  "skills.idle_minutes": setting<number>({
    type: "integer",
    default: 30,
    minimum: 1,
    maximum: 100_000,
    unit: "minutes",
    about: "After this many minutes without a prompt, the next prompt gets the full format again.",
  }),
  "skills.forget_after_prompts": setting<number>({
    type: "integer",
    default: 100,
    minimum: 0,
    maximum: 1_000_000,
    unit: "prompts",
    about: "A skill shown this many prompts ago counts as new again. 0: never.",
  }),
  "work.lease_minutes": setting<number>({
    type: "integer",
    default: 60,
    minimum: 1,
    maximum: 100_000,
    unit: "minutes",
    about: "How long a claim lasts without a sign of life, such as a tool call that hooks see.",
  }),
  "work.max_claims": setting<number>({
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    unit: "tasks",
    about: "How many tasks one agent may hold at once. 0: no limit.",
  }),
  "work.replace_results": setting<boolean>({
    type: "boolean",
    default: false,
    about:
      "Show a coordinator the summary of the stored handoff instead of the sub-agent's answer, if the sub-agent worked on a task.",
  }),
  "work.test_command": setting<string>({
    type: "string",
    default: "",
    about: "The command that `haversack work` tests each task with. Empty: detected from the project's files.",
  }),
  "work.setup_command": setting<string>({
    type: "string",
    default: "",
    about: "What `haversack work --isolate` runs in a fresh worktree, such as `npm ci`.",
  }),
  "work.test_minutes": setting<number>({
    type: "integer",
    default: 30,
    minimum: 1,
    maximum: 1_000,
    unit: "minutes",
    about: "A test run that takes longer is stopped and counts as red.",
  }),
  "work.max_test_retries": setting<number>({
    type: "integer",
    default: 3,
    minimum: 0,
    maximum: 20,
    about: "How often a fixer may try to get the tests green before a task is blocked.",
  }),
  "work.auto_fix": setting<boolean>({
    type: "boolean",
    default: true,
    about: "Start a fixer when the tests fail after a task. Never for a spike.",
  }),
  "headless.client": setting<string>({
    type: "string",
    default: "claude-code",
    choices: ["claude-code", "codex", "gemini", "opencode", "command"],
    about: "The client that `haversack work` starts. command: what headless.command names.",
  }),
  "headless.command": setting<string>({
    type: "string",
    default: "",
    about:
      "A command that is started as a client: it reads the prompt on standard input and may print Claude Code's stream-json. Only from your own config.",
  }),
  "headless.args": setting<readonly string[]>({
    type: "strings",
    default: [],
    about: "Options for the client, such as permissions. Only from your own config.",
  }),
  "headless.max_chains": setting<number>({
    type: "integer",
    default: 10,
    minimum: 1,
    maximum: 10_000,
    unit: "sessions",
    about: "How many sessions one run may start.",
  }),
  "headless.window_percent": setting<number>({
    type: "integer",
    default: 70,
    minimum: 10,
    maximum: 95,
    unit: "percent",
    about: "How full a window may get before its session is asked to save and end.",
  }),
  "headless.window_tokens": setting<number>({
    type: "integer",
    default: 200_000,
    minimum: 1_000,
    maximum: 100_000_000,
    unit: "tokens",
    about: "Window size in tokens, if the client does not report it.",
  }),
  "headless.fill_sessions": setting<boolean>({
    type: "boolean",
    default: true,
    about: "Give a session further batches while they fit into its window. Claude Code only.",
  }),
  "headless.grace_seconds": setting<number>({
    type: "integer",
    default: 180,
    minimum: 1,
    maximum: 3_600,
    unit: "seconds",
    about: "How long a session that was asked to end may take.",
  }),
  "headless.quiet_minutes": setting<number>({
    type: "integer",
    default: 10,
    minimum: 1,
    maximum: 1_000,
    unit: "minutes",
    about: "A session without a sign of life for this long counts as hung; while a tool runs, three times as long.",
  }),
  "headless.keep": setting<string>({
    type: "string",
    default: "ref",
    choices: ["ref", "branch"],
    about:
      "Where uncommitted changes are kept after a session: under refs/haversack/runs, or on the branch haversack/run-ID.",
  }),
  "headless.push": setting<string>({
    type: "string",
    default: "",
    about:
      "The git remote that a run pushes its commits to, after each session that finished a task. Never forced. Empty: nothing is pushed. Only from your own config.",
  }),
  "headless.push_branch": setting<string>({
    type: "string",
    default: "{branch}",
    about:
      "The branch that headless.push pushes to; {branch}, {machine} and {run} are replaced. Machines that share a queue need one each, such as work/{machine}. Only from your own config.",
  }),
  "headless.reviewers": setting<readonly string[]>({
    type: "strings",
    default: ["spec-reviewer", "quality-reviewer"],
    about: "Roles that review a task after its tests, in this order.",
  }),
  "headless.report": setting<string>({
    type: "string",
    default: "on_failure",
    choices: ["on_complete", "on_failure", "always", "never"],
    about: "When a run prints its report at its end. The file is always written.",
  }),
  "headless.notify": setting<string>({
    type: "string",
    default: "terminal",
    about: "Who is told when a run ends: `terminal`, a command, or an address (http). Only from your own config.",
  }),
  "wake.budget_chars": setting<number>({
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 100_000,
    unit: "characters",
    about:
      "Maximum size of a wake-up packet in characters. 0: the client's limit (9,500 in Claude Code), which is never exceeded.",
  }),
  "wake.skill_patterns": setting<readonly string[]>({
    type: "strings",
    default: [],
    about:
      'Words in a task and the skill they mean, such as "spec review: subagent-driven-development". They are tried before the built-in ones; leave out the skill to switch one off.',
  }),
  "wake.type_skills": setting<readonly string[]>({
    type: "strings",
    default: [],
    about: 'The skill for a type of task, such as "bug: debugging".',
  }),
  "wake.cross_cutting": setting<readonly string[]>({
    type: "strings",
    default: [],
    about:
      'Skills whose core is added to the task\'s own skill, such as "implementation: test-driven-development". Kinds: planning, implementation, execution, finishing.',
  }),
  "wake.commit_steps": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Tell whoever works on a task to commit after each step.",
  }),
  "artifacts.resume": setting<boolean>({
    type: "boolean",
    default: false,
    about:
      "From the second iteration on, continue with the reviewer that already has the documents. Works only after a successful `haversack doctor --try-resume CLIENT`; until then each iteration starts a new reviewer.",
  }),
  "artifacts.send_back": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Send a sub-agent back once when it ends without having read the documents it must read.",
  }),
  "outputs.replace_over": setting<number>({
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    unit: "characters",
    about:
      "Tool outputs longer than this are kept in the store; the model sees a preview and a handle for `recall`. At least 2,000. 0: off.",
  }),
  "outputs.keep_days": setting<number>({
    type: "integer",
    default: 14,
    minimum: 1,
    maximum: 36_500,
    unit: "days",
    about: "How long kept tool outputs can be recalled.",
  }),
  "outputs.max_mb": setting<number>({
    type: "integer",
    default: 100,
    minimum: 1,
    maximum: 100_000,
    unit: "megabytes",
    about: "Maximum size of kept tool outputs in the store. Beyond it, the oldest are removed.",
  }),
  "store.retention_days": setting<number>({
    type: "integer",
    default: 90,
    minimum: 0,
    maximum: 36_500,
    unit: "days",
    about:
      "How long local state is kept: sessions with their ledger and what hooks noted, snapshots of reviews, the log. Work is never removed by age. 0: for ever.",
  }),
  "log.max_bytes": setting<number>({
    type: "integer",
    default: 1_000_000,
    minimum: 10_000,
    maximum: 1_000_000_000,
    unit: "bytes",
    about: "Size at which .haversack/log/haversack.log is rotated.",
  }),
  "log.keep": setting<number>({
    type: "integer",
    default: 3,
    minimum: 1,
    maximum: 100,
    unit: "files",
    about: "How many rotated log files are kept.",
  }),
} as const;

export type SettingKey = keyof typeof SETTINGS;

export type Config = { readonly [Key in SettingKey]: (typeof SETTINGS)[Key] extends Setting<infer T> ? T : never };

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** The published JSON Schema: editors complete and check `.haversack/config.json` with it. */
export function configJsonSchema(): object {
  const sections: Record<string, { type: "object"; additionalProperties: false; properties: Record<string, object> }> =
    {};
  for (const key of SETTING_KEYS) {
    const [section = "", name = ""] = key.split(".");
    sections[section] ??= { type: "object", additionalProperties: false, properties: {} };
    sections[section].properties[name] = settingJsonSchema(SETTINGS[key]);
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Haversack settings",
    type: "object",
    additionalProperties: false,
    properties: { $schema: { type: "string" }, ...sections },
  };
}

function settingJsonSchema(entry: Setting<unknown>): object {
  const { type, about, unit, minimum, maximum, choices } = entry;
  return {
    ...(type === "strings" ? { type: "array", items: { type: "string" } } : { type }),
    ...(choices && { enum: choices }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    default: entry.default,
    description: unit ? `${about} Unit: ${unit}.` : about,
  };
}
