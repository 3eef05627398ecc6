import { relative, resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { importPlan, type PlanFile } from "../../engine/work/import-plan.ts";

import type { PlanReport } from "../../store/work-store.ts";
import { present } from "../../work/task-view.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { dryRunLine, formatImportProblems, some } from "../print-import.ts";
import { inputOf, type OpenWork, readFileOrStdin, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Turns a plan or a tasks.md into tasks: each heading `Task N: Name` with its Files, Steps, Done When, Depends on and Skill. Importing again brings the tasks up to date and doubles none, also when they were renumbered or renamed; status, claims and WIP are never touched, done steps stay done, and tasks that left the plan are only named. A new task that is checked off in the plan starts as done.",
  arguments: [{ name: "FILE", about: "the plan, in Markdown", required: true }],
  options: {
    story: { type: "string", value: "ID", about: "Put new tasks into this story (default: one of the plan's title)." },
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
};

export function run(call: Call): Promise<ExitCode> {
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
}

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
