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

type Range = Pick<Setting<number>, "unit"> & { from: number; to: number };

function flag(usual: boolean, about: string): Setting<boolean> {
  return { type: "boolean", default: usual, about };
}

function whole(usual: number, { from, to, unit }: Range, about: string): Setting<number> {
  return { type: "integer", default: usual, minimum: from, maximum: to, ...(unit && { unit }), about };
}

function share(usual: number, about: string): Setting<number> {
  return { type: "number", default: usual, minimum: 0, maximum: 1, about };
}

function text(about: string, usual = ""): Setting<string> {
  return { type: "string", default: usual, about };
}

function choice<Word extends string>(usual: Word, choices: readonly Word[], about: string): Setting<Word> {
  return { type: "string", default: usual, choices, about };
}

function texts(about: string, usual: readonly string[] = []): Setting<readonly string[]> {
  return { type: "strings", default: usual, about };
}

export const SETTINGS = {
  "skills.folders": texts("Further folders with skills; relative ones start at the project's root."),
  "skills.max_skills": whole(3, { from: 1, to: 10 }, "Maximum number of skills shown for one prompt."),
  "skills.recommend_threshold": share(
    0.4,
    "Minimum confidence for recommending a skill. A rule's own threshold takes precedence.",
  ),
  "skills.auto_load_threshold": share(
    0.6,
    "Minimum confidence for loading a skill's text unasked, if skills.auto_load is confident. A skill's own triggers.confidence takes precedence.",
  ),
  "skills.auto_load": choice(
    "asked",
    ["asked", "confident"],
    "When a skill's text is loaded unasked. asked: the prompt names the skill, or its author's rule says auto. confident: also for matches above skills.auto_load_threshold.",
  ),
  "skills.enforce": flag(
    false,
    "Let rules with the enforcement block or require take full effect. Off: they only warn.",
  ),
  "skills.judge_url": text(
    "Address of an OpenAI-compatible embeddings endpoint, such as http://127.0.0.1:11434/v1/embeddings. The running MCP server sends it the prompt and the descriptions of matching skills, and ranks by its answer. Only in your own config; empty: nothing is sent.",
  ),
  "skills.judge_model": text(
    "The model that skills.judge_url is asked for, such as nomic-embed-text. Only in your own config.",
  ),
  "skills.judge_key_env": text(
    "Name of the environment variable with the API key for skills.judge_url. Empty: no key. Only in your own config.",
  ),
  "skills.learn": flag(
    false,
    "Learn from use in this project: skills that were used when shown, or searched for, rank a little higher, and ignored ones a little lower. `haversack skill learned` shows what was learned.",
  ),
  "skills.idle_minutes": whole(
    30,
    { from: 1, to: 100_000, unit: "minutes" },
    "After this many minutes without a prompt, the next prompt gets the full format again.",
  ),
  "skills.forget_after_prompts": whole(
    100,
    { from: 0, to: 1_000_000, unit: "prompts" },
    "A skill shown this many prompts ago counts as new again. 0: never.",
  ),
  "work.lease_minutes": whole(
    60,
    { from: 1, to: 100_000, unit: "minutes" },
    "How long a claim lasts without a sign of life, such as a tool call that hooks see.",
  ),
  "work.max_claims": whole(
    0,
    { from: 0, to: 1_000_000, unit: "tasks" },
    "How many tasks one agent may hold at once. 0: no limit.",
  ),
  "work.replace_results": flag(
    false,
    "Show a coordinator the summary of the stored handoff instead of the sub-agent's answer, if the sub-agent worked on a task.",
  ),
  "work.test_command": text(
    "The command that `haversack work` tests each task with. Empty: detected from the project's files.",
  ),
  "work.setup_command": text("What `haversack work --isolate` runs in a fresh worktree, such as `npm ci`."),
  "work.test_minutes": whole(
    30,
    { from: 1, to: 1_000, unit: "minutes" },
    "A test run that takes longer is stopped and counts as red.",
  ),
  "work.max_test_retries": whole(
    3,
    { from: 0, to: 20 },
    "How often a fixer may try to get the tests green before a task is blocked.",
  ),
  "work.auto_fix": flag(true, "Start a fixer when the tests fail after a task. Never for a spike."),
  "headless.client": choice(
    "claude-code",
    ["claude-code", "codex", "gemini", "opencode", "command"],
    "The client that `haversack work` starts. command: what headless.command names.",
  ),
  "headless.command": text(
    "A command that is started as a client: it reads the prompt on standard input and may print Claude Code's stream-json. Only from your own config.",
  ),
  "headless.args": texts("Options for the client, such as permissions. Only from your own config."),
  "headless.max_chains": whole(10, { from: 1, to: 10_000, unit: "sessions" }, "How many sessions one run may start."),
  "headless.window_percent": whole(
    70,
    { from: 10, to: 95, unit: "percent" },
    "How full a window may get before its session is asked to save and end.",
  ),
  "headless.window_tokens": whole(
    200_000,
    { from: 1_000, to: 100_000_000, unit: "tokens" },
    "Window size in tokens, if the client does not report it.",
  ),
  "headless.fill_sessions": flag(
    true,
    "Give a session further batches while they fit into its window. Claude Code only.",
  ),
  "headless.grace_seconds": whole(
    180,
    { from: 1, to: 3_600, unit: "seconds" },
    "How long a session that was asked to end may take.",
  ),
  "headless.quiet_minutes": whole(
    10,
    { from: 1, to: 1_000, unit: "minutes" },
    "A session without a sign of life for this long counts as hung; while a tool runs, three times as long.",
  ),
  "headless.keep": choice(
    "ref",
    ["ref", "branch"],
    "Where uncommitted changes are kept after a session: under refs/haversack/runs, or on the branch haversack/run-ID.",
  ),
  "headless.push": text(
    "The git remote that a run pushes its commits to, after each session that finished a task. Never forced. Empty: nothing is pushed. Only from your own config.",
  ),
  "headless.push_branch": text(
    "The branch that headless.push pushes to; {branch}, {machine} and {run} are replaced. Machines that share a queue need one each, such as work/{machine}. Only from your own config.",
    "{branch}",
  ),
  "headless.reviewers": texts("Roles that review a task after its tests, in this order.", [
    "spec-reviewer",
    "quality-reviewer",
  ]),
  "headless.report": choice(
    "on_failure",
    ["on_complete", "on_failure", "always", "never"],
    "When a run prints its report at its end. The file is always written.",
  ),
  "headless.notify": text(
    "Who is told when a run ends: `terminal`, a command, or an address (http). Only from your own config.",
    "terminal",
  ),
  "wake.budget_chars": whole(
    0,
    { from: 0, to: 100_000, unit: "characters" },
    "Maximum size of a wake-up packet in characters. 0: the client's limit (9,500 in Claude Code), which is never exceeded.",
  ),
  "wake.skill_patterns": texts(
    'Words in a task and the skill they mean, such as "spec review: subagent-driven-development". They are tried before the built-in ones; leave out the skill to switch one off.',
  ),
  "wake.type_skills": texts('The skill for a type of task, such as "bug: debugging".'),
  "wake.cross_cutting": texts(
    'Skills whose core is added to the task\'s own skill, such as "implementation: test-driven-development". Kinds: planning, implementation, execution, finishing.',
  ),
  "wake.commit_steps": flag(false, "Tell whoever works on a task to commit after each step."),
  "artifacts.resume": flag(
    false,
    "From the second iteration on, continue with the reviewer that already has the documents. Works only after a successful `haversack doctor --try-resume CLIENT`; until then each iteration starts a new reviewer.",
  ),
  "artifacts.send_back": flag(
    false,
    "Send a sub-agent back once when it ends without having read the documents it must read.",
  ),
  "outputs.replace_over": whole(
    0,
    { from: 0, to: 10_000_000, unit: "characters" },
    "Tool outputs longer than this are kept in the store; the model sees a preview and a handle for `recall`. At least 2,000. 0: off.",
  ),
  "outputs.keep_days": whole(14, { from: 1, to: 36_500, unit: "days" }, "How long kept tool outputs can be recalled."),
  "outputs.max_mb": whole(
    100,
    { from: 1, to: 100_000, unit: "megabytes" },
    "Maximum size of kept tool outputs in the store. Beyond it, the oldest are removed.",
  ),
  "store.retention_days": whole(
    90,
    { from: 0, to: 36_500, unit: "days" },
    "How long local state is kept: sessions with their ledger and what hooks noted, snapshots of reviews, the log. Work is never removed by age. 0: for ever.",
  ),
  "log.max_bytes": whole(
    1_000_000,
    { from: 10_000, to: 1_000_000_000, unit: "bytes" },
    "Size at which .haversack/log/haversack.log is rotated.",
  ),
  "log.keep": whole(3, { from: 1, to: 100, unit: "files" }, "How many rotated log files are kept."),
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
