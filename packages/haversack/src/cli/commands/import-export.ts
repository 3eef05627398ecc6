/** Imports work: a plan, an export, or what another task tool wrote. Writes the export. */

import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { putFile } from "../../base/safe-write.ts";
import { placeOfNamed } from "../../engine/wired-place.ts";
import { detectTools, FOREIGN_TOOLS, importForeign } from "../../engine/work/import-foreign.ts";
import { hasOhno, importOhno, type OhnoReport } from "../../engine/work/import-ohno.ts";
import { importPlan } from "../../engine/work/import-plan.ts";
import { FIRST_LINE, formatRecord, type ImportReport, parseRecords } from "../../store/record-fields.ts";
import type { PlanReport } from "../../store/work-store.ts";
import { present } from "../../work/task-view.ts";
import { type Call, flag, type Io, type Output, option } from "../command.ts";
import { targetFile } from "../project.ts";
import { counted, formatBytes, paint } from "../terminal.ts";
import { defineWork, inputOf, type OpenWork, readFileOrStdin } from "../work.ts";
import { AGENT } from "../work-options.ts";

const KINDS = ["plan", "jsonl", "ohno", ...FOREIGN_TOOLS] as const;
type Kind = (typeof KINDS)[number];

/** Most lines printed of each kind; `--json` has all. */
const MOST = 20;

/** Empty values are left out. */
function importData({ added, same, ...lists }: ImportReport, isDryRun: boolean): object {
  const counts = Object.fromEntries(Object.entries(added).filter(([, count]) => count > 0));
  return present({ dry_run: isDryRun || undefined, added: counts, same, ...lists });
}

function formatImport(io: Io, report: ImportReport, isDryRun: boolean): string {
  const { added, same, updated, kept, renamed, recognized, problems } = report;
  const counts = Object.entries(added).filter(([, count]) => count > 0);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const parts = counts.map(([kind, count]) => `${count} ${(count === 1 ? kind : plural(kind)).replace("_", " ")}`);
  return [
    total > 0 ? `${isDryRun ? "Would add" : "Added"} ${parts.join(", ")}.` : "Nothing new.",
    ...(same > 0 ? [`${counted(same, "is", "are")} there already.`] : []),
    ...some(
      isDryRun ? "Would update, because the import is newer:" : "Updated, because the import is newer:",
      updated.map(({ id, fields }) => `${id}: ${fields.join(", ")}`),
    ),
    ...some(
      "Kept, because it is newer here or somebody holds the task:",
      kept.map(({ id, fields }) => `${id}: ${fields.join(", ")}`),
    ),
    ...some(
      "Renamed, because something else has the id:",
      renamed.map(({ from, to }) => (isDryRun ? `${from} gets a new id` : `${from} is now ${to}`)),
    ),
    ...some(
      "Already here under another id:",
      recognized.map(({ from, to }) => `${from} is ${to}`),
    ),
    ...formatImportProblems(io, problems),
    ...dryRunLine(isDryRun),
  ].join("\n");
}

function formatImportProblems(io: Io, problems: ImportReport["problems"]): string[] {
  return some(
    paint(io, "yellow", `${counted(problems.length, "problem")}:`),
    problems.map(({ where, text }) => `${cleanLine(where)}: ${cleanLine(text, { maxChars: 500 })}`),
  );
}

function dryRunLine(isDryRun: boolean): string[] {
  return isDryRun ? ["Nothing was changed: this was a dry run."] : [];
}

/** A heading with its lines; nothing if there are no lines. */
function some(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MOST ? [`  and ${lines.length - MOST} more; --json has all`] : [];
  return [heading, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...more];
}

function plural(kind: string): string {
  if (kind === "activity") return "lines of activity";
  return kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

export const commands = {
  import: defineWork(({ options }) => (options["dry-run"] ? "try" : "save"), {
    about: `Imports work. The kind of FILE is detected; --from names it.
  plan   Markdown: each heading \`Task N: Name\` becomes a task with its Files, Steps, Done When, Depends on and Skill. Import it again to update the tasks, even after renumbering or renaming: none is doubled, status, claims and WIP are never touched, done steps stay done, and tasks that left the plan are only named. A new task that is checked off in the plan starts as done.
  jsonl  what \`haversack export\` wrote: new things are added; of two versions the one changed later wins, and the report names the fields. If an id belongs to something else here, the import gets a new one.
  ohno   an ohno project's folder, its .ohno folder or tasks.db: everything it has, with its ids. Its file is only read.
  beads, task-master, backlog  a project's folder or the tool's file (.beads/issues.jsonl, .taskmaster/tasks/tasks.json, backlog/): its tasks with their ids, dependencies, parts and statuses.
  github  a file that \`gh issue list --state all --json number,title,body,state,stateReason,labels,assignees,milestone,createdAt,updatedAt,url\` wrote: issue 12 becomes gh-12.
Importing again adds nothing, and never undoes what was done here since: a task that somebody holds keeps its status and claim, and a task without a time of change in the file is left as it is here. What cannot be imported is reported, and the rest is imported. Exit 1 if there are problems.`,
    arguments: [
      {
        name: "FILE",
        about:
          "a plan, an export, another tool's project or file, or - for an export on standard input (default with --from a tool: here)",
      },
    ],
    options: {
      from: option("KIND", `${KINDS.slice(0, -1).join(", ")} or ${KINDS.at(-1)} (default: by the file).`, {
        choices: KINDS,
      }),
      story: option("ID", "Of a plan: put new tasks into this story (default: a story with the plan's title)."),
      epic: option("ID", "Of a plan: put the plan's story into this epic."),
      sequential: flag("Of a plan: every task waits for the one before it."),
      "dry-run": flag("Only report."),
      agent: AGENT,
    },
    examples: {
      "haversack import docs/plan.md --dry-run": "what a plan would become",
      "haversack import docs/plan.md --epic E4829": "as a story of that epic",
      "git show main:work.jsonl | haversack import -": "from another branch",
      "haversack import ../other --from ohno": "from an ohno project",
      "haversack import --from beads --dry-run": "what this project's beads would become",
    },
    json: "of a plan {dry_run?, story?: {id, title, is_new?}, created?: [{id, number, title}], updated?: [{id, number, title, fields}], unchanged?, gone?: [{id, number, title, status}], behind?: those checked off in the plan and open here, problems?: [{where, text}]}, where what a dry run would create has no id; else {file?, dry_run?, added?: {kind: count}, same, updated?: [{id, fields}], kept?: [{id, fields}], renamed?: [{from, to}], recognized?: [{from, to}], problems?: [{where, text}], unchanged?: [id], left?: [{where, count, why}]}.",
    async run(call, work) {
      const { options } = call;
      const [file] = call.arguments;
      const { from } = options;
      if (file === undefined && (from === undefined || from === "plan" || from === "jsonl"))
        throw new HaversackError("usage", "FILE is missing", {
          hint: "name a plan, an export or another tool's project",
        });
      const name = file ?? ".";
      const kind = from ?? kindOf(call, name);
      const other = (["story", "epic", "sequential"] as const).find((option) => options[option] !== undefined);
      if (kind !== "plan" && other)
        throw new HaversackError("usage", `--${other} is for plans, but ${name} is ${kind}`);
      return importAs(kind, name, call, work);
    },
  }),
  export: defineWork("read", {
    about:
      "Writes all work as JSON lines: epics, stories, tasks with their WIP and claims, dependencies, blockers, failures, handoffs, agents, messages, the skills that tasks used, activity. One line per record, in a fixed order, so that it diffs well in git; `haversack import` reads it back without loss. It contains everything that is stored, so read it before you share it. Only you can read a new file.",
    arguments: [{ name: "FILE", about: "where to write; standard output without it" }],
    options: { "no-activity": flag("Leave out the activity, which grows with every change.") },
    examples: {
      "haversack export work.jsonl": "replaces the file in one step",
      'haversack export | grep \'"kind":"task"\'': "for a pipe",
    },
    json: "{file, records, size_bytes}: only with FILE.",
    async run(call, { store }) {
      const [name] = call.arguments;
      if (name === undefined && call.json)
        throw new HaversackError("usage", "--json needs FILE: the export itself goes to standard output");
      const lines: string[] = [];
      for await (const record of store.exportRecords()) {
        if (record.kind === "activity" && call.options["no-activity"]) continue;
        lines.push(`${formatRecord(record)}\n`);
      }
      if (name === undefined) {
        call.io.out(`${FIRST_LINE}\n`);
        for (const line of lines) call.io.out(line);
        return 0;
      }
      const file = targetFile(call, name);
      const text = `${FIRST_LINE}\n${lines.join("")}`;
      putFile(file, text, { ...placeOfNamed(file, call.io.cwd), mode: 0o600 });
      const sizeBytes = Buffer.byteLength(text);
      const done = `${counted(lines.length, "record")} to ${file} (${formatBytes(sizeBytes)}).`;
      return { data: { file, records: lines.length, sizeBytes }, text: done };
    },
  }),
};

function kindOf({ io }: Pick<Call, "io">, name: string): Kind {
  if (name === "-") return "jsonl";
  const path = resolve(io.cwd, name);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (/\.(?:db|sqlite3?)$/i.test(name)) return "ohno";
  const tools: Kind[] = detectTools(path);
  if (isFolder && hasOhno(path)) tools.unshift("ohno");
  const [tool, ...others] = tools;
  if (tool && others.length === 0) return tool;
  if (tool)
    throw new HaversackError("usage", `${name} has work of several tools: name one`, {
      hint: tools.map((one) => `--from ${one}`).join(", or "),
    });
  // An error line loses the "." at its end, so "." and ".." are shown as whole paths.
  const shown = name.endsWith(".") ? path : name;
  if (isFolder)
    throw new HaversackError("not-found", `no work of ${["ohno", ...FOREIGN_TOOLS].join(", ")} found in ${shown}`, {
      hint: "name the tool's file, or its kind with --from",
    });
  if (/\.json$/i.test(name) && statSync(path, { throwIfNoEntry: false }))
    throw new HaversackError("usage", `${name} is neither task-master's nor a list of \`gh issue list\``, {
      hint: "name its kind with --from",
    });
  return /\.(?:jsonl|ndjson)$/i.test(name) ? "jsonl" : "plan";
}

type ImportCall = Pick<
  Call<{ "dry-run"?: boolean; story?: string; epic?: string; sequential?: boolean }>,
  "io" | "options"
>;

async function importAs(kind: Kind, name: string, call: ImportCall, { store, by, paths }: OpenWork): Promise<Output> {
  const { io } = call;
  const { "dry-run": isDryRun = false } = call.options;
  const path = resolve(io.cwd, name);
  if (kind === "plan") {
    if (name === "-") throw new HaversackError("usage", "a plan is known by its file: name it");
    const text = await readFileOrStdin(call, name);
    const given = inputOf(call, "story", "epic", "sequential", "dry-run");
    const report = await importPlan(store, { ...given, file: relative(paths.root, path), text }, by);
    return {
      data: viewPlan(report, isDryRun),
      text: () => formatPlanReport(io, report, isDryRun),
      code: report.problems.length > 0 ? 1 : 0,
    };
  }
  if (kind === "jsonl") {
    const { records, problems } = parseRecords(await readFileOrStdin(call, name));
    const taken = await store.importRecords(records, { isDryRun }, by);
    const report = { ...taken, problems: [...problems, ...taken.problems] };
    return {
      data: importData(report, isDryRun),
      text: () => formatImport(io, report, isDryRun),
      code: report.problems.length > 0 ? 1 : 0,
    };
  }
  const found: OhnoReport & { unchanged?: string[] } =
    kind === "ohno"
      ? await importOhno(store, { path, isDryRun }, by)
      : await importForeign(store, { tool: kind, path, isDryRun }, by);
  const { file, left, unchanged = [], ...report } = found;
  const text = () =>
    [
      `From ${file}:`,
      formatImport(io, report, isDryRun),
      ...some("Unchanged here, because the file does not say when they were changed:", unchanged),
      ...some(
        "Not carried over:",
        left.map(({ where, count, why }) => `${where}, ${counted(count, "value")}: ${why}`),
      ),
    ].join("\n");
  const data = { file, ...importData(report, isDryRun), ...present({ unchanged, left }) };
  return { data, text, code: report.problems.length > 0 ? 1 : 0 };
}

function viewPlan({ story, created, ...report }: PlanReport, isDryRun: boolean): object {
  // A dry run makes up IDs; leave them out so nobody looks for them.
  const view = <Item extends { id: string }>({ id, ...rest }: Item, isNew: boolean) =>
    isNew && isDryRun ? rest : { id, ...rest };
  return present({
    dry_run: isDryRun || undefined,
    story: story && {
      ...view({ id: story.id, title: story.title }, story.isNew),
      ...(story.isNew && { is_new: true }),
    },
    created: created.map((task) => view(task, true)),
    ...report,
  });
}

function formatPlanReport(io: Io, report: PlanReport, isDryRun: boolean): string {
  const { story, created, updated, unchanged, gone, behind, problems } = report;
  const line = ({ id, number, title }: { id: string; number: string; title: string }, isMadeUp = false) =>
    `${isMadeUp ? "" : `${id}  `}${number ? `Task ${number}: ` : ""}${cleanLine(title)}`;
  const where = story && `${cleanLine(story.title)}${story.isNew && isDryRun ? "" : ` (${story.id})`}`;
  return [
    ...(where ? [`${story.isNew ? (isDryRun ? "Would make the story" : "New story") : "Story"} ${where}`] : []),
    ...some(
      isDryRun ? "Would create:" : "Created:",
      created.map((task) => line(task, isDryRun)),
    ),
    ...some(
      isDryRun ? "Would update:" : "Updated:",
      updated.map((task) => `${line(task)}: ${task.fields.join(", ")}`),
    ),
    ...(unchanged.length > 0 ? [`${unchanged.length} unchanged.`] : []),
    ...some(
      "No longer in the plan, left as they are:",
      gone.map((task) => `${line(task)} (${task.status})`),
    ),
    ...some(
      "Checked off in the plan, but open here:",
      behind.map((task) => `${line(task)} (${task.status})`),
    ),
    ...formatImportProblems(io, problems),
    ...dryRunLine(isDryRun),
  ].join("\n");
}
