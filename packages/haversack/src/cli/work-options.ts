/** Options that several work commands share. */
import { DEPENDENCY_TYPES, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES } from "../work/task.ts";
import { option, wholeNumber } from "./command.ts";

export const AGENT = option("NAME", "The agent that does it (default: HAVERSACK_AGENT, else you).");

export const LEASE = wholeNumber(
  "MINUTES",
  "How long the claim holds without a sign of life (default: work.lease_minutes, 60).",
  { maximum: 100_000 },
);

export const EPIC = option("ID", "Only this epic.");
export const STORY = option("ID", "Only this story.");

export const PRIORITY = option("P", "P0 (first) to P3 (default P2).", { choices: PRIORITIES });
export const TASK_TYPE = option("TYPE", `${oneOf(TASK_TYPES)} (default feature).`, { choices: TASK_TYPES });
export const TASK_STATUS = option("STATUS", `Only ${oneOf(TASK_STATUSES)}.`, { choices: TASK_STATUSES });
export const GROUP_STATUS = option("STATUS", `Only ${oneOf(GROUP_STATUSES)}.`, { choices: GROUP_STATUSES });
/** The statuses that can be set for stories and epics. The others follow from their tasks. */
export const GROUP_STATUS_CHANGE = option(
  "STATUS",
  "archived hides it, todo brings it back; other statuses follow its tasks.",
  { choices: ["archived", "todo"] },
);
export const DEPENDENCY_TYPE = option(
  "TYPE",
  "blocks (default) and requires make TASK wait; relates_to only records the relation.",
  { choices: DEPENDENCY_TYPES },
);

/** `-` reads any text from standard input. The help mentions it where a text may be long. */
export function text(about: string) {
  return option("TEXT", `${about}; - reads it from standard input.`);
}

export const FIELDS = option("MODE", "What --json prints of each: minimal (id, title, status), standard or full.", {
  choices: ["minimal", "standard", "full"],
});

export function listOptions(defaultLimit: number) {
  return {
    limit: wholeNumber("N", `How many (default ${defaultLimit}).`),
    offset: wholeNumber("N", "Leave out the first N.", { minimum: 0 }),
    "max-tokens": wholeNumber("N", "Stop before the output exceeds N tokens (estimated)."),
  };
}

export function oneOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
