/** Claiming, releasing and keeping tasks. */
import { cleanLine } from "../../base/clean-text.ts";
import { claimTask, heartbeat, releaseTask } from "../../engine/work/claims.ts";
import { viewClaim } from "../../work/task-view.ts";
import {
  type Call,
  type Command,
  type ExitCode,
  eachTask,
  flag,
  isDone,
  option,
  print,
  several,
  type TaskResult,
} from "../command.ts";
import { wipLines } from "../print-task.ts";
import { block, fields, formatClaim, formatSpan } from "../print-work.ts";
import { inputOf, type OpenWork, openWork, refuse, TASK, TASKS } from "../work.ts";
import { AGENT, EPIC, FIELDS, LEASE, STORY } from "../work-options.ts";

const taskClaim: Command = {
  spec: {
    about:
      "Claims tasks for an agent and starts them: those named, or the next one that is ready. The first agent to claim a task gets it, from whatever process or machine. A claim ends with the task, with `task release`, or when its lease runs out without a sign of life. Exit 1 if nothing is ready or another agent has it.",
    arguments: [{ ...TASKS, about: `${TASKS.about} (default: the next that is ready)`, required: false }],
    options: {
      agent: AGENT,
      lease: LEASE,
      force: flag("Claim even if dependencies are still open."),
      steal: option("REASON", "Claim even if another agent holds it; the reason is stored."),
      epic: EPIC,
      story: STORY,
      fields: FIELDS,
    },
    examples: [
      { run: "haversack claim --agent alice", says: "the next one for alice" },
      { run: "haversack claim T4829 --agent alice --lease 30", says: "this one, for half an hour" },
      { run: "haversack claim T4829 --steal 'bob is gone'", says: "take it over" },
    ],
    json: `${several("{id, title, status, …, claim: {agent, lease_until, unconfirmed?}, note?}")} A single task that is refused prints nothing; the reason is on standard error.`,
  },
  async run(call) {
    const work = await openWork(call, "save");
    const { epic, story } = call.options as { epic?: string; story?: string };
    const scope = { ...(epic !== undefined && { epicId: epic }), ...(story !== undefined && { storyId: story }) };
    const claim = (taskId?: string) => claimOne({ ...scope, ...(taskId !== undefined && { taskId }) }, { call, work });
    if (call.arguments.length > 0) return eachTask(call, call.arguments, claim);
    const result = await claim();
    if (!isDone(result)) return refuse(call, { hint: "`haversack next` says why", ...result });
    print(call, result.view, () => result.text);
    return 0;
  },
};

type ClaimInput = Parameters<typeof claimTask>[0];

async function claimOne(
  scope: ClaimInput,
  { call, work }: { call: Call; work: OpenWork },
): Promise<TaskResult | { kind: string; text: string }> {
  const input = inputOf<ClaimInput>(call, { isForced: "force", stealReason: "steal", fields: "fields" });
  const outcome = await claimTask({ ...scope, ...input }, work);
  if (outcome.kind !== "claimed") return outcome;
  const { claim, task, note, warning, view } = outcome;
  const span = formatSpan(claim.leaseUntil.getTime() - work.by.at.getTime());
  const wip = task.wip ? wipLines(task.wip) : [];
  const lines = [
    `${task.id} is ${work.by.isPerson ? "yours" : `${cleanLine(claim.agent)}'s`} for ${span}: ${cleanLine(task.title)}`,
    ...(claim.isUnconfirmed ? [UNCONFIRMED] : []),
    ...(warning === undefined ? [] : [`Warning: ${warning}. The queue hands out those.`]),
    ...fields(call.io, [
      ["note", note && cleanLine(note)],
      ["skill", task.skill && cleanLine(task.skill)],
      ["files", task.files.map((file) => cleanLine(file)).join(", ")],
    ]),
    ...(wip.length > 0 ? ["Work in progress", block(wip.join("\n"))] : []),
    `\`haversack task show ${task.id}\` shows everything; \`haversack task heartbeat ${task.id}\` extends the claim.`,
  ];
  const shown = { ...view, claim: viewClaim(claim), ...(note && { note }) };
  return { kind: "done", view: shown, text: lines.join("\n") };
}

const UNCONFIRMED = "Unconfirmed: the shared store cannot be reached, so somebody else may have claimed it too.";

const taskRelease: Command = {
  spec: {
    about: "Gives claimed tasks back to the queue, with their work in progress. Exit 1 if one is not yours.",
    arguments: [TASKS],
    options: {
      reason: option("TEXT", "Why; whoever takes it next is told."),
      agent: AGENT,
    },
    examples: [
      { run: "haversack task release T4829 --agent alice --reason 'needs a database'", says: "for somebody else" },
    ],
    json: several("{id, status}"),
  },
  async run(call) {
    const work = await openWork(call, "save");
    const input = inputOf<Parameters<typeof releaseTask>[0]>(call, { reason: "reason" });
    return eachTask(call, call.arguments, async (taskId) => {
      const outcome = await releaseTask({ ...input, taskId }, work);
      if (outcome.kind === "refused") return outcome;
      const { id, status, title } = outcome.task;
      return { kind: "done", view: { id, status }, text: `${id} is back in the queue: ${cleanLine(title)}` };
    });
  },
};

const taskHeartbeat: Command = {
  spec: {
    about:
      "Extends the claims on tasks, or all claims of the agent. Exit 1 when a claim is lost: then stop working on the task. Sessions that hooks see need no heartbeat.",
    arguments: [{ ...TASKS, about: `${TASK.about} (default: all tasks that the agent holds)`, required: false }],
    options: { agent: AGENT, lease: LEASE },
    examples: [{ run: "haversack task heartbeat --agent alice", says: "all of alice's claims" }],
    json: "[{id, lease_until}].",
  },
  async run(call) {
    const work = await openWork(call, "save");
    const views: object[] = [];
    const lines: string[] = [];
    const wanted = call.arguments.length > 0 ? [...new Set(call.arguments)] : [undefined];
    let code: ExitCode = 0;
    for (const taskId of wanted) {
      const outcome = await heartbeat(taskId === undefined ? {} : { taskId }, work);
      if (outcome.kind !== "prolonged") {
        code = refuse(call, outcome);
        continue;
      }
      views.push(...outcome.views);
      lines.push(...outcome.claims.map((claim) => `${claim.taskId}: ${formatClaim(claim, work.by.at)}`));
    }
    if (views.length > 0) print(call, views, () => lines.join("\n"));
    return code;
  },
};

export const commands: Readonly<Record<string, Command>> = {
  "task claim": taskClaim,
  "task release": taskRelease,
  "task heartbeat": taskHeartbeat,
};
