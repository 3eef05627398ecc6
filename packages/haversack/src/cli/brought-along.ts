/** What `trust` and `init` show before they ask for confirmation. */
import { cleanLine } from "../base/clean-text.ts";
import { lineDiff } from "../engine/init.ts";
import type { BroughtAlong, lookIntoStore } from "../engine/trust-project.ts";
import { columns } from "./help.ts";
import { counted, formatBytes } from "./terminal.ts";

/** The content of the database: see `lookIntoStore`. */
type Look = ReturnType<typeof lookIntoStore>;

/** `look`: absent when the database is the user's own. */
export function formatBrought(
  { untrusted, parts, settings, templates, rules, unread }: BroughtAlong,
  { look }: { look?: Look } = {},
): string {
  const rows = (list: readonly (readonly [string, string])[]) =>
    list.length > 0 ? [columns(list.map(([name, text]) => [clean(name), clean(text)]))] : [];
  /** One row, with details below it that the user needs for the decision. */
  const entry = (row: [string, string], details: readonly string[]) => [
    ...rows([row]),
    ...details.map((line) => `      ${clean(line)}`),
  ];
  const part = (heading: string, lines: readonly string[]) => (lines.length > 0 ? [heading, ...lines] : []);
  const mark = (isAccepted: boolean, isChanged = false) =>
    isAccepted ? " (accepted)" : isChanged ? " (CHANGED since you accepted it)" : "";
  const local = parts.map(({ path, about, bytes, isTracked, link }) => {
    const tracked = isTracked ? "; TRACKED BY GIT: it came with the repository" : "";
    const what =
      link === undefined ? `${formatBytes(bytes)}, ${about}${tracked}` : `symbolic link to ${link}; cannot be accepted`;
    return [path, what] as const;
  });
  const set = settings.map(
    ({ key, value, why, isAccepted }) => [key, `${JSON.stringify(value)}: ${why}${mark(isAccepted)}`] as const,
  );
  const read = templates.flatMap(({ path, text, isAccepted, before }) => {
    const details = isAccepted ? [] : before === undefined ? firstLines(text) : shortDiff(before, text);
    return entry([path, `${text.length} characters${mark(isAccepted, before !== undefined)}`], details);
  });
  const loading = rules.flatMap(({ path, skill, why, triggers, loads, isAccepted, isChanged }) => {
    const text = loads
      ? [`text: ${loads.path}, ${loads.text.length} characters`, ...firstLines(loads.text)]
      : ["text: none, no skill of this name is installed"];
    const details = [`when: ${some(triggers, MAX_TRIGGERS) || "the skill fits the prompt"}`, ...text];
    return entry([path, `“${skill}” ${why}${mark(isAccepted, isChanged)}`], isAccepted ? [] : details);
  });
  return [
    ...(untrusted ? [`${untrusted.why}.`] : []),
    ...part("Local state:", rows(local)),
    ...describeLook(look).map(clean),
    ...part("Settings in .haversack/config.json that need your acceptance:", rows(set)),
    ...part("Templates, which agents read as instructions:", read),
    ...part("Rules for skills that need your acceptance:", loading),
    ...(unread.length > 0 ? [formatUnread({ unread })] : []),
  ].join("\n");
}

export function formatUnread({ unread }: Pick<BroughtAlong, "unread">): string {
  return ["Not read, accepted or not:", columns(unread.map(({ path, why }) => [clean(path), clean(why)]))].join("\n");
}

function describeLook(look: Look): string[] {
  if (look === undefined) return [];
  if (typeof look === "string") return [`The database was not looked into: ${look}.`];
  const counts = look.rows.map(({ name, count }) => counted(count, name.slice(0, -1)));
  return [
    `The database holds ${counts.join(", ")}.`,
    ...look.tasks.map((title) => `  task: ${title}`),
    ...look.messages.map(({ sender, text }) => `  message of ${sender}: ${text}`),
  ];
}

const MAX_LINES = 5;
const MAX_DIFF_LINES = 16;
const MAX_TRIGGERS = 12;

function firstLines(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return cutList(
    lines.map((line) => `| ${line}`),
    MAX_LINES,
  );
}

function shortDiff(before: string, after: string): string[] {
  const changed = lineDiff(before, after).filter(({ sign }) => sign !== " ");
  return cutList(
    changed.map(({ sign, text }) => `${sign} ${text}`),
    MAX_DIFF_LINES,
  );
}

function cutList(lines: readonly string[], max: number): string[] {
  const left = lines.length - max;
  return left > 0 ? [...lines.slice(0, max), `… ${left} more ${left === 1 ? "line" : "lines"}`] : [...lines];
}

function some(items: readonly string[], max: number): string {
  const left = items.length - max;
  return items.slice(0, max).join(", ") + (left > 0 ? ` and ${left} more` : "");
}

/** For `--json`: without the texts of templates and skills, which are in their files. */
export function broughtData(
  { untrusted, parts, settings, templates, rules, unread }: BroughtAlong,
  { look }: { look?: Look } = {},
) {
  return {
    untrusted: untrusted?.why ?? null,
    parts: parts.map(({ isTracked, ...part }) => ({ ...part, tracked: isTracked })),
    store:
      look === undefined || typeof look === "string"
        ? null
        : {
            rows: Object.fromEntries(look.rows.map(({ name, count }) => [name, count])),
            tasks: look.tasks.map(clean),
            messages: look.messages.map(({ sender, text }) => ({ sender: clean(sender), text: clean(text) })),
          },
    settings: settings.map(({ isAccepted, ...setting }) => ({ ...setting, accepted: isAccepted })),
    templates: templates.map(({ path, role, text, isAccepted, before }) => ({
      ...{ path, role, chars: text.length, accepted: isAccepted, changed: before !== undefined },
    })),
    rules: rules.map(({ path, skill, why, triggers, loads, isAccepted, isChanged }) => ({
      ...{ path, skill, why, triggers, loads: loads?.path ?? null, accepted: isAccepted, changed: isChanged },
    })),
    unread: unread.map(({ path, why }) => ({ path, why })),
  };
}

/** Names, values and texts come from the repository, so control characters are removed. Leading spaces stay. */
function clean(text: string): string {
  const indent = /^ */.exec(text)?.[0] ?? "";
  return indent + cleanLine(text, { maxChars: 300 });
}
