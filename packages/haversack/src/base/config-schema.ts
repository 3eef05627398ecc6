/**
 * Every setting, once: its type, default, bounds and what it means. Types, the reader, the published JSON Schema
 * and the page in docs derive from this table. It is plain data and not a schema library, because the hook reads
 * settings too and cannot afford one (zod alone costs 13 ms per process).
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
  "skills.maxSkills": setting<number>({
    type: "integer",
    default: 3,
    minimum: 1,
    maximum: 10,
    about: "How many skills one prompt may bring at the most.",
  }),
  "skills.recommendThreshold": setting<number>({
    type: "number",
    default: 0.4,
    minimum: 0,
    maximum: 1,
    about: "Confidence from which a skill is recommended. A rule's own threshold beats it.",
  }),
  "skills.autoLoadThreshold": setting<number>({
    type: "number",
    default: 0.6,
    minimum: 0,
    maximum: 1,
    about:
      "Confidence from which a body is loaded unasked, where skills.autoLoad allows it. A skill's triggers.confidence beats it.",
  }),
  "skills.autoLoad": setting<"asked" | "confident">({
    type: "string",
    default: "asked",
    choices: ["asked", "confident"],
    about:
      "When a body is loaded unasked. asked: the prompt names the skill, or its author's rule says auto. confident: a match above skills.autoLoadThreshold too.",
  }),
  "skills.enforce": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Let rules with enforcement block or require really block. Off: they only warn.",
  }),
  "skills.idleMinutes": setting<number>({
    type: "integer",
    default: 30,
    minimum: 1,
    maximum: 100_000,
    unit: "minutes",
    about: "After this long without a prompt the next one gets the full format again.",
  }),
  "skills.forgetAfterPrompts": setting<number>({
    type: "integer",
    default: 100,
    minimum: 0,
    maximum: 1_000_000,
    unit: "prompts",
    about: "A skill shown this many prompts ago counts as new again. 0: never.",
  }),
  "work.leaseMinutes": setting<number>({
    type: "integer",
    default: 60,
    minimum: 1,
    maximum: 100_000,
    unit: "minutes",
    about: "How long a claim holds without a sign of life. Tool calls of a session that hooks see are such signs.",
  }),
  "work.maxClaims": setting<number>({
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    unit: "tasks",
    about: "How many tasks one agent may hold at once. 0: no limit.",
  }),
  "work.replaceResults": setting<boolean>({
    type: "boolean",
    default: false,
    about:
      "Replace what a coordinator sees of a sub-agent's answer by the stored handoff's summary, where the sub-agent worked on a task.",
  }),
  "wake.budgetChars": setting<number>({
    type: "integer",
    default: 0,
    minimum: 0,
    maximum: 100_000,
    unit: "characters",
    about:
      "The most that a wake-up packet may have. 0: what the client takes (9,500 in Claude Code). It never exceeds that.",
  }),
  "wake.skillPatterns": setting<readonly string[]>({
    type: "strings",
    default: [],
    about:
      'Words in a task and the skill they mean, such as "spec review: subagent-driven-development". Before the shipped ones; no skill after the colon switches one off.',
  }),
  "wake.typeSkills": setting<readonly string[]>({
    type: "strings",
    default: [],
    about: 'The skill for a type of task, such as "bug: debugging".',
  }),
  "wake.crossCutting": setting<readonly string[]>({
    type: "strings",
    default: [],
    about:
      'Skills that come as their core beside the task\'s own, such as "implementation: test-driven-development". Kinds: planning, implementation, execution, finishing.',
  }),
  "wake.commitSteps": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Tell whoever works on a task to commit after each step.",
  }),
  "artifacts.resume": setting<boolean>({
    type: "boolean",
    default: false,
    about:
      "From the second iteration on, go on with a reviewer that has the documents already. First `haversack doctor --try-resume CLIENT`: without a trial that went well, dispatches stay fresh.",
  }),
  "artifacts.sendBack": setting<boolean>({
    type: "boolean",
    default: false,
    about: "Send a sub-agent back once when it ends without having read the documents it must read.",
  }),
  "store.retentionDays": setting<number>({
    type: "integer",
    default: 90,
    minimum: 0,
    maximum: 36_500,
    unit: "days",
    about:
      "How long local state is kept: sessions with their ledger and what hooks noted, snapshots of reviews, the log. Work is never removed by age. 0: for ever.",
  }),
  "log.maxBytes": setting<number>({
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
