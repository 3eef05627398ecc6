/** Work from elsewhere: a plan, an export, an ohno project. */
import { relative, resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { importOhno } from "../../engine/work/import-ohno.ts";
import { importPlan, type PlanFile } from "../../engine/work/import-plan.ts";
import { parseRecords } from "../../store/record-lines.ts";
import type { ImportReport } from "../../store/work-records.ts";
import type { PlanReport } from "../../store/work-store.ts";
import { present } from "../../work/task-view.ts";
import { type Call, type Command, type ExitCode, type Io, print } from "../command.ts";
import { paint } from "../terminal.ts";
import { inputOf, type OpenWork, readFileOrStdin, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

/** Of each kind of line; `--json` has all. */
const MOST = 20;

/** Absent means empty. */
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
    ...(same > 0 ? [`${same} ${same === 1 ? "is" : "are"} there already.`] : []),
    ...some(
      isDryRun ? "Would update, being newer in the import:" : "Updated, being newer in the import:",
      updated.map(({ id, fields }) => `${id}: ${fields.join(", ")}`),
    ),
    ...some(
      "Kept, being newer here:",
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
    paint(io, "yellow", problems.length === 1 ? "1 problem:" : `${problems.length} problems:`),
    problems.map(({ where, text }) => `${cleanLine(where)}: ${cleanLine(text, { maxChars: 500 })}`),
  );
}

function dryRunLine(isDryRun: boolean): string[] {
  return isDryRun ? ["Nothing was changed: this was a dry run."] : [];
}

/** A heading and its lines, or nothing. */
function some(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MOST ? [`  and ${lines.length - MOST} more; --json has all`] : [];
  return [heading, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...more];
}

function plural(kind: string): string {
  if (kind === "activity") return "lines of activity";
  return kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}

export const planImport: Command = {
  spec: {
    about:
      "Turns a plan or a tasks.md into tasks: each heading `Task N: Name` with its Files, Steps, Done When, Depends on and Skill. Importing again brings the tasks up to date and doubles none, also when they were renumbered or renamed; status, claims and WIP are never touched, done steps stay done, and tasks that left the plan are only named. A new task that is checked off in the plan starts as done.",
    arguments: [{ name: "FILE", about: "the plan, in Markdown", required: true }],
    options: {
      story: {
        type: "string",
        value: "ID",
        about: "Put new tasks into this story (default: one of the plan's title).",
      },
      epic: { type: "string", value: "ID", about: "Put the plan's story into this epic." },
      sequential: { type: "boolean", about: "Every task waits for the one before it." },
      "dry-run": { type: "boolean", about: "Only report." },
      agent: AGENT,
    },
    examples: [
      { run: "haversack import plan docs/plan.md --dry-run", says: "what would come of it" },
      { run: "haversack import plan docs/plan.md --epic E4829", says: "as a story of that epic" },
    ],
    json: "{dry_run?, story?: {id, title, is_new?}, created?: [{id, number, title}], updated?: [{id, number, title, fields}], unchanged?, gone?: [{id, number, title, status}], behind?: those checked off in the plan and open here, problems?: [{where, text}]}; in a dry run what would be made has no id; exit 1 when there are problems.",
  },
  run(call) {
    const action = async ({ store, by, paths }: OpenWork): Promise<ExitCode> => {
      const name = call.arguments[0] ?? "";
      if (name === "-") throw new HaversackError("usage", "a plan is known by its file: name it");
      const text = await readFileOrStdin(call, name);
      const plan: PlanFile = {
        ...inputOf<PlanFile>(call, {
          storyId: "story",
          epicId: "epic",
          isSequential: "sequential",
          isDryRun: "dry-run",
        }),
        file: relative(paths.root, resolve(call.io.cwd, name)),
        text,
      };
      const report = await importPlan(store, plan, by);
      print(call, viewPlan(report, plan), () => formatPlanReport(call, report, plan));
      return report.problems.length > 0 ? 1 : 0;
    };
    return withWork(call, action, { isDryRun: call.options["dry-run"] === true });
  },
};

function viewPlan({ story, created, ...report }: PlanReport, { isDryRun = false }: PlanFile): object {
  // An id that a dry run made up would be looked for.
  const view = ({ id, ...rest }: { id: string }, isNew: boolean) => (isNew && isDryRun ? rest : { id, ...rest });
  return present({
    dry_run: isDryRun || undefined,
    story: story && {
      ...view(pick(story), story.isNew),
      ...(story.isNew && { is_new: true }),
    },
    created: created.map((task) => view(task, true)),
    ...report,
  });
}

function pick({ id, title }: { id: string; title: string }) {
  return { id, title };
}

function formatPlanReport({ io }: Call, report: PlanReport, { isDryRun = false }: PlanFile): string {
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

export const ohnoImport: Command = {
  spec: {
    about:
      "Takes over the work of an ohno project: epics, stories, tasks with their ids, dependencies, blockers, failures, handoffs, WIP and activity. Its file is only read. Importing again adds nothing. The report says what could not be carried over.",
    arguments: [{ name: "PATH", about: "the project's folder, its .ohno folder, or tasks.db (default: here)" }],
    options: { "dry-run": { type: "boolean", about: "Only report." }, agent: AGENT },
    examples: [
      { run: "haversack import ohno --dry-run", says: "what would come from .ohno/tasks.db here" },
      { run: "haversack import ohno ../other", says: "from another project" },
    ],
    json: "{file, dry_run?, added?: {kind: count}, same, updated?, kept?, renamed?, recognized?, problems?: [{where, text}], left?: [{where, count, why}]}; exit 1 when there are problems.",
  },
  run(call) {
    const isDryRun = call.options["dry-run"] === true;
    const action = async ({ store, by }: OpenWork): Promise<ExitCode> => {
      const path = resolve(call.io.cwd, call.arguments[0] ?? ".");
      const { file, left, ...report } = await importOhno(store, { path, isDryRun }, by);
      const data = { file, ...importData(report, isDryRun), ...present({ left }) };
      print(call, data, () => {
        const lines = left.map(
          ({ where, count, why }) => `${where}, ${count} ${count === 1 ? "value" : "values"}: ${why}`,
        );
        return [`From ${file}:`, formatImport(call.io, report, isDryRun), ...some("Not carried over:", lines)].join(
          "\n",
        );
      });
      return report.problems.length > 0 ? 1 : 0;
    };
    return withWork(call, action, { isDryRun });
  },
};

export const jsonlImport: Command = {
  spec: {
    about:
      "Takes work from an export. New things are added, equal ones left alone; of two versions of one thing the one changed later wins, and the report names the fields. The same id for two different things gives what comes a new one. What cannot be taken over is reported, and the rest is taken. Importing again adds nothing.",
    arguments: [{ name: "FILE", about: "an export, or - for standard input", required: true }],
    options: { "dry-run": { type: "boolean", about: "Only report." }, agent: AGENT },
    examples: [
      { run: "haversack import jsonl work.jsonl --dry-run", says: "what would happen" },
      { run: "git show main:work.jsonl | haversack import jsonl -", says: "from another branch" },
    ],
    json: "{dry_run?, added?: {kind: count}, same, updated?: [{id, fields}], kept?: [{id, fields}], renamed?: [{from, to}], recognized?: [{from, to}], problems?: [{where, text}]}; exit 1 when there are problems.",
  },
  run(call) {
    const isDryRun = call.options["dry-run"] === true;
    const action = async ({ store, by }: OpenWork): Promise<ExitCode> => {
      const { records, problems } = parseRecords(await readFileOrStdin(call, call.arguments[0] ?? ""));
      const taken = await store.importRecords(records, { isDryRun }, by);
      const report = { ...taken, problems: [...problems, ...taken.problems] };
      print(call, importData(report, isDryRun), () => formatImport(call.io, report, isDryRun));
      return report.problems.length > 0 ? 1 : 0;
    };
    return withWork(call, action, { isDryRun });
  },
};
