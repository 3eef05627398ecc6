/** Options that several work commands share. */
import { DEPENDENCY_TYPES, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES } from "../work/task.ts";
import type { OptionSpec } from "./command.ts";

export const AGENT: OptionSpec = {
  type: "string",
  value: "NAME",
  about: "The agent that does it (default: HAVERSACK_AGENT, else you).",
};

export const LEASE: OptionSpec = {
  type: "integer",
  value: "MINUTES",
  minimum: 1,
  maximum: 100_000,
  about: "How long the claim holds without a sign of life (default: work.leaseMinutes, 60).",
};

export const EPIC: OptionSpec = { type: "string", value: "ID", about: "Only this epic." };
export const STORY: OptionSpec = { type: "string", value: "ID", about: "Only this story." };

export const PRIORITY: OptionSpec = {
  type: "string",
  value: "P",
  choices: PRIORITIES,
  about: "P0 (first) to P3 (default P2).",
};
export const TASK_TYPE: OptionSpec = {
  type: "string",
  value: "TYPE",
  choices: TASK_TYPES,
  about: `${oneOf(TASK_TYPES)} (default feature).`,
};
export const TASK_STATUS: OptionSpec = {
  type: "string",
  value: "STATUS",
  choices: TASK_STATUSES,
  about: `Only ${oneOf(TASK_STATUSES)}.`,
};
export const GROUP_STATUS: OptionSpec = {
  type: "string",
  value: "STATUS",
  choices: GROUP_STATUSES,
  about: `Only ${oneOf(GROUP_STATUSES)}.`,
};
/** Of stories and epics; the rest follows their tasks. */
export const GROUP_STATUS_CHANGE: OptionSpec = {
  type: "string",
  value: "STATUS",
  choices: ["archived", "todo"],
  about: "archived puts it away, todo brings it back; the rest follows its tasks.",
};
export const DEPENDENCY_TYPE: OptionSpec = {
  type: "string",
  value: "TYPE",
  choices: DEPENDENCY_TYPES,
  about: "blocks (default) and requires make TASK wait; relates_to only tells.",
};

/** `-` is standard input for every text; said where a text may be long. */
export function text(about: string): OptionSpec {
  return { type: "string", value: "TEXT", about: `${about}; - reads it from standard input.` };
}

export const FIELDS: OptionSpec = {
  type: "string",
  value: "MODE",
  choices: ["minimal", "standard", "full"],
  about: "What --json prints of each: minimal (id, title, status), standard or full.",
};

/** Of every list. */
export function listOptions(defaultLimit: number) {
  return {
    limit: { type: "integer", value: "N", minimum: 1, about: `How many (default ${defaultLimit}).` },
    offset: { type: "integer", value: "N", minimum: 0, about: "Leave out the first N." },
    "max-tokens": {
      type: "integer",
      value: "N",
      minimum: 1,
      about: "Stop before the output exceeds N tokens (estimated).",
    },
  } as const satisfies Record<string, OptionSpec>;
}

export function oneOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
