/** What the commands for epics and stories share. */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { HaversackError } from "../base/errors.ts";
import type { TaskCounts } from "../store/work-store.ts";
import type { Epic, Story } from "../work/task.ts";
import type { ArgumentSpec, Call, Io } from "./command.ts";
import { block, fields, formatAgo, formatCounts, statusCell } from "./print-work.ts";
import { paint } from "./terminal.ts";
import { readText } from "./work.ts";

export const EPIC_ID: ArgumentSpec = {
  name: "EPIC",
  about: "epic ID or a unique prefix (3+ digits)",
  required: true,
};
export const STORY_ID: ArgumentSpec = {
  name: "STORY",
  about: "story ID or a unique prefix (3+ digits)",
  required: true,
};

/** The engine's changes out of the options: texts read, fields of `--clear` null. */
export async function readChanges<Input extends object>(
  call: Call,
  command: string,
  names: { readonly [Field in keyof Input]?: string },
): Promise<Partial<Input>> {
  const { options } = call;
  const cleared = new Set(options["clear"] as string[] | undefined);
  const changes: Record<string, unknown> = {};
  for (const [field, name] of Object.entries(names as Record<string, string>)) {
    const value = options[name];
    if (cleared.has(name)) {
      if (value !== undefined) throw new HaversackError("usage", `${name} cannot be both given and cleared`);
      changes[field] = null;
    } else if (value !== undefined) changes[field] = typeof value === "string" ? await readText(call, value) : value;
  }
  if (Object.keys(changes).length === 0) {
    throw new HaversackError("usage", "nothing to change was given", {
      hint: `\`haversack ${command} --help\` lists the fields`,
    });
  }
  return changes as Partial<Input>;
}

export function formatGroup(io: Io, group: (Epic | Story) & { counts: TaskCounts }, now: Date): string {
  const { text, style } = statusCell(group.status);
  const texts: [string, string | undefined][] = [
    ["Description", group.description],
    ["Acceptance criteria", "acceptanceCriteria" in group ? group.acceptanceCriteria : undefined],
  ];
  return [
    `${group.id}  ${paint(io, "bold", cleanLine(group.title))}`,
    ...fields(io, [
      ["status", style ? paint(io, style, text) : text],
      ["priority", "priority" in group ? group.priority : undefined],
      ["epic", "epicId" in group ? group.epicId : undefined],
      ["tasks", formatCounts(group.counts)],
      ["source", group.source && cleanLine(group.source)],
      ["times", times(group, now)],
    ]),
    ...texts.flatMap(([heading, body]) => (body ? ["", heading, block(stripControl(body).trimEnd())] : [])),
  ].join("\n");
}

function times({ createdAt, updatedAt, completedAt }: Epic | Story, now: Date): string {
  const last = completedAt ? `completed ${formatAgo(completedAt, now)}` : `changed ${formatAgo(updatedAt, now)}`;
  return `made ${formatAgo(createdAt, now)}, ${last}`;
}
