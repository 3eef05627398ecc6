import { cleanLine } from "../../base/clean-text.ts";
import { trackedInIndex } from "../../base/project-root.ts";
import { LOG_NAMES } from "../../base/project-trust.ts";
import { offReason } from "../../engine/project.ts";
import { describeTeam, teamState, viewTeam } from "../../engine/team/team-state.ts";
import { nextReady } from "../../engine/work/next-batch.ts";
import { projectStatus } from "../../engine/work/session-context.ts";
import { listTasks } from "../../engine/work/tasks.ts";
import { readSessionTimes } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { processOfSession } from "../../store/sqlite/work/events/session-claims.ts";
import type { Claim, LeftTask, Task } from "../../work/task.ts";
import { present, viewBrief, viewClaim, viewCounts } from "../../work/task-view.ts";
import { type Io, sayWarning } from "../command.ts";
import { type Cell, dim, formatClaim, formatCounts, formatSpan, table } from "../print-work.ts";
import type { SeenRun } from "../seen-run.ts";
import { counted, paint } from "../terminal.ts";
import { defineWork, inputOf, type OpenWork } from "../work.ts";
import { EPIC, STORY } from "../work-options.ts";

/** Most entries per kind, so that all fit on one screen. */
const MOST = 8;

export const command = defineWork("read", {
  about:
    "Shows where the work stands, on one screen: whether Haversack is off, counts, what is in progress and by whom, what was left unfinished and where, what is blocked and why, and what comes next.",
  options: { epic: EPIC, story: STORY },
  examples: { "haversack status --epic E4829": "of one epic" },
  json: "{off?: why, shared?: {address, snapshot_at?, offline_since?, waiting, waiting_since?, conflicts}, tasks: {status: count, ready}, interrupted_runs?: [{id, remedy}], in_progress?: [{id, title, status, claim?: {agent, lease_until, unconfirmed?, session_ended?}}], left?: [{id, title, status, agent, worktree?, branch?, last_seen_at, ended_as}], review?: [{id, title, status}], blocked?: [{id, title, status, blockers}], next?: [{id, title, status, …}]}: the first eight of each; `task list` has all.",
  async run(call, work) {
    const scope = inputOf(call);
    const { counts, claims } = await projectStatus(scope, work);
    const groups: Group[] = [];
    for (const status of GROUPS) groups.push(await readGroup(status, scope, { work, claims }));
    // Left work is not shown for a single epic or story.
    const left = scope.epicId || scope.storyId ? [] : await work.store.listLeft({ limit: MOST + 1, at: work.by.at });
    const next = await nextReady({ ...scope, limit: 3, fields: "standard" }, work);
    const interrupted = await interruptedRuns(claims, work);
    const off = offReason(work.paths, call.io.env);
    const team = teamState(work.handle);
    const view = present({
      off,
      shared: team && viewTeam(team),
      // Kept even if 0, which says that nothing can be started.
      tasks: { ...viewCounts(counts), ready: counts.ready },
      interrupted_runs: interrupted.map(({ id, remedy }) => ({ id, remedy })),
      left: left.slice(0, MOST).map(viewLeft),
      ...Object.fromEntries(groups.map(({ status, tasks }) => [status, tasks.map(viewOne)])),
      next: next.views,
    });
    const [tracked] = call.json ? [] : trackedInIndex(work.paths.root, ["haversack.db", ...LOG_NAMES]);
    if (tracked !== undefined) {
      const why = "whoever can push to this repository can replace it";
      sayWarning(call.io, `git tracks .haversack/${tracked}: ${why} (\`haversack doctor\` says more)`);
    }
    const { io } = call;
    const head = [
      ...(off === undefined ? [] : [`${paint(io, "yellow", "Haversack is off")}: ${off}.`, ""]),
      ...(team
        ? [
            `Shared at ${team.shared}: ${describeTeam(team, new Date())}.`,
            ...(team.conflicts > 0 ? ["`haversack store conflicts` shows what was not saved there."] : []),
            "",
          ]
        : []),
    ];
    const { ready, ...byStatus } = counts;
    const all = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
    const isEmpty = next.ready === 0 && ready === 0 && all === 0;
    const lines = () => [
      `${counted(all, "task")}: ${formatCounts(counts)}`,
      ...formatLeft(io, left, work.by.at),
      ...groups.flatMap((group) => formatTasks(io, group, work.by.at)),
      ...interrupted.flatMap(({ id, remedy }) => [
        "",
        `Run ${id} was interrupted and still holds tasks; \`${remedy}\` continues it.`,
      ]),
      ...formatNext(io, next.tasks, ready),
    ];
    const none = 'No tasks yet; `haversack task create "TITLE"` creates one.';
    return { data: view, text: () => [...head, ...(isEmpty ? [none] : lines())].join("\n") };
  },
});

const HEADINGS = { in_progress: "In progress", review: "In review", blocked: "Blocked" } as const;
const GROUPS = Object.keys(HEADINGS) as (keyof typeof HEADINGS)[];

type Scope = Parameters<typeof projectStatus>[0];
interface Group {
  status: keyof typeof HEADINGS;
  tasks: { task: Task; claim?: Claim | undefined; isOver?: boolean; reasons?: string[] }[];
  total: number;
}

/** The code for runs is half of the program, so it is loaded only if a run holds a claim. */
async function interruptedRuns(claims: readonly Claim[], { runs, by }: OpenWork): Promise<SeenRun[]> {
  if (!claims.some(({ agent }) => agent.startsWith("run-"))) return [];
  const { holdingRuns } = await import("../seen-run.ts");
  const found = await holdingRuns(claims, { runs, now: by.at });
  return found.filter(({ remedy }) => remedy);
}

async function readGroup(
  status: Group["status"],
  scope: Scope,
  { work, claims }: { work: OpenWork; claims: readonly Claim[] },
): Promise<Group> {
  const { items, total } = await listTasks({ ...scope, status, limit: MOST }, work);
  const tasks = items.map(async (task) => {
    if (status === "blocked") return { task, reasons: (task.blockers ?? []).map(({ reason }) => reason) };
    const claim = claims.find(({ taskId }) => taskId === task.id);
    return { task, claim, isOver: claim !== undefined && (await isOver(claim, work)) };
  });
  return { status, tasks: await Promise.all(tasks), total };
}

/** The claim's session has ended, or its client was killed. The lease continues, but nobody works on the task. */
async function isOver({ sessionId }: Claim, { handle }: OpenWork): Promise<boolean> {
  if (sessionId === undefined) return false;
  if (readSessionTimes(handle, sessionId)?.endedAt) return true;
  const process = processOfSession(handle, sessionId);
  return process !== undefined && (await import("../start-client.ts")).isRunning(process) === false;
}

function viewOne({ task, claim, isOver, reasons }: Group["tasks"][number]): object {
  const shown = claim && { ...viewClaim(claim), ...(isOver && { session_ended: true }) };
  return present({ ...viewBrief(task), claim: shown, blockers: reasons });
}

function viewLeft({ id, title, status, agent, worktree, branch, lastSeenAt, endedAs }: LeftTask): object {
  return present({ id, title, status, agent, worktree, branch, last_seen_at: lastSeenAt, ended_as: endedAs });
}

/** Nothing if there are no rows. `more`: the line below them, if some were left out. */
function section(io: Io, heading: string, rows: readonly Cell[][], more: string | false): string[] {
  if (rows.length === 0) return [];
  return ["", paint(io, "bold", heading), ...table(io, rows), ...(more ? [more] : [])];
}

function formatLeft(io: Io, left: readonly LeftTask[], now: Date): string[] {
  const rows = left.slice(0, MOST).map(({ id, title, agent, worktree, lastSeenAt }): Cell[] => {
    const ago = formatSpan(now.getTime() - lastSeenAt.getTime());
    const where = worktree === undefined ? "" : ` (in ${cleanLine(worktree)})`;
    return [`  ${id}`, dim(`${cleanLine(agent)}, ${ago} ago`), `${cleanLine(title)}${where}`];
  });
  const more = left.length > MOST && "  and more: `haversack task list --status todo --wip`";
  return section(io, "Left unfinished", rows, more);
}

function formatTasks(io: Io, { status, tasks, total }: Group, now: Date): string[] {
  const rows = tasks.map(({ task, claim, isOver, reasons = [] }): Cell[] => [
    `  ${task.id}`,
    dim(claim && formatClaim(claim, now, { isOver })),
    [cleanLine(task.title), ...reasons.map((reason) => cleanLine(reason, { maxChars: 200 }))].join(": "),
  ]);
  const more = total - tasks.length;
  return section(io, HEADINGS[status], rows, more > 0 && `  ${more} more: \`haversack task list --status ${status}\``);
}

function formatNext(io: Io, tasks: readonly Task[], ready: number): string[] {
  if (tasks.length === 0) return ["", "Nothing is ready."];
  const rows = tasks.map(({ id, priority, type, title }) => [`  ${id}`, priority, dim(type), cleanLine(title)]);
  return section(io, "Next", rows, ready > tasks.length && `  ${ready - tasks.length} more ready: \`haversack next\``);
}
