/** Taking a task, giving it back, and keeping it. */
import { cleanLine } from "../../base/clean-text.ts";
import { claimTask, heartbeat, releaseTask } from "../../engine/work/claims.ts";
import { type Call, type Command, type ExitCode, type OptionSpec, print } from "../command.ts";
import { eachTask, isDone, several, TASKS, type TaskResult } from "../each-task.ts";
import { wipLines } from "../print-task.ts";
import { block, fields, formatClaim, formatSpan } from "../print-work.ts";
import { inputOf, type OpenWork, refuse, withWork } from "../work.ts";
import { AGENT, EPIC, FIELDS, LEASE, STORY } from "../work-options.ts";

const CLAIM_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  agent: AGENT,
  lease: LEASE,
  force: { type: "boolean", about: "Claim even if dependencies are still open." },
  steal: { type: "string", value: "REASON", about: "Claim even if another agent holds it; the reason is stored." },
  fields: FIELDS,
};

const CLAIM_JSON = `the task: ${several("{id, title, status, …, claim: {agent, lease_until}, note?}")} If one task alone is refused, nothing is printed, and the reason is on standard error.`;

export const taskClaim: Command = {
  spec: {
    about:
      "Claims tasks for an agent: those named, or the next one that is ready. The first agent to claim a task gets it, from whatever process or machine. Exit 1 if nothing is ready or another agent has it.",
    arguments: [{ ...TASKS, about: `${TASKS.about} (default: the next that is ready)`, required: false }],
    options: { ...CLAIM_OPTIONS, epic: EPIC, story: STORY },
    examples: [
      { run: "haversack claim --agent alice", says: "the next one for alice" },
      { run: "haversack claim T4829 --agent alice --lease 30", says: "this one, for half an hour" },
    ],
    json: CLAIM_JSON,
  },
  run(call) {
    const { epic, story } = call.options as { epic?: string; story?: string };
    return runClaim(call, call.arguments, {
      ...(epic !== undefined && { epicId: epic }),
      ...(story !== undefined && { storyId: story }),
    });
  },
};

// `claim` and `task start`: what both ask for, and what both print.

type ClaimInput = Parameters<typeof claimTask>[0];

/** Without a task: the next ready one of the scope. */
function runClaim(call: Call, taskIds: readonly string[], scope: Omit<ClaimInput, "taskId"> = {}): Promise<ExitCode> {
  return withWork(call, async (work) => {
    if (taskIds.length > 0) return eachTask(call, taskIds, (taskId) => claimOne({ ...scope, taskId }, { call, work }));
    const result = await claimOne(scope, { call, work });
    if (!isDone(result)) return refuse(call, result);
    print(call, result.view, () => result.text);
    return 0;
  });
}

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
    `${task.id} is ${cleanLine(claim.agent)}'s for ${span}: ${cleanLine(task.title)}`,
    ...(warning === undefined ? [] : [`Warning: ${warning}. The queue hands out those.`]),
    ...fields(call.io, [
      ["note", note && cleanLine(note)],
      ["skill", task.skill && cleanLine(task.skill)],
      ["files", task.files.map((file) => cleanLine(file)).join(", ")],
    ]),
    ...(wip.length > 0 ? ["Work in progress", block(wip.join("\n"))] : []),
    `\`haversack task show ${task.id}\` shows everything; \`haversack heartbeat ${task.id}\` prolongs the claim.`,
  ];
  const shown = { ...view, claim: { agent: claim.agent, lease_until: claim.leaseUntil }, ...(note && { note }) };
  return { kind: "done", view: shown, text: lines.join("\n") };
}

export const taskStart: Command = {
  spec: {
    about:
      "Starts tasks: claims them, so that nobody else works on them. The first agent to claim a task gets it; others are told who has it (exit 1). A claim ends with the task, with `release`, or when its lease runs out without a sign of life.",
    arguments: [TASKS],
    options: CLAIM_OPTIONS,
    examples: [
      { run: "haversack task start T4829 --agent alice", says: "for alice" },
      { run: "haversack task start T4829 --steal 'bob is gone'", says: "take it over" },
    ],
    json: CLAIM_JSON,
  },
  run(call) {
    return runClaim(call, call.arguments);
  },
};

export const taskRelease: Command = {
  spec: {
    about: "Gives claimed tasks back to the queue, with their work in progress. Exit 1 if one is not yours.",
    arguments: [TASKS],
    options: {
      reason: { type: "string", value: "TEXT", about: "Why; whoever takes it next is told." },
      agent: AGENT,
    },
    examples: [{ run: "haversack release T4829 --agent alice --reason 'needs a database'", says: "for somebody else" }],
    json: several("{id, status}"),
  },
  run(call) {
    return withWork(call, async (work) => {
      const input = inputOf<Parameters<typeof releaseTask>[0]>(call, { reason: "reason" });
      return eachTask(call, call.arguments, async (taskId) => {
        const outcome = await releaseTask({ ...input, taskId }, work);
        if (outcome.kind === "refused") return outcome;
        const { id, status, title } = outcome.task;
        return { kind: "done", view: { id, status }, text: `${id} is back in the queue: ${cleanLine(title)}` };
      });
    });
  },
};

export const taskHeartbeat: Command = {
  spec: {
    about:
      "A sign of life: prolongs the claim on a task, or all claims of the agent. Exit 1 when the claim is lost: then stop working on it. Sessions that hooks see need none.",
    arguments: [
      {
        name: "TASK",
        about: "task ID or a unique prefix (3+ digits); default: all tasks that the agent holds",
      },
    ],
    options: { agent: AGENT, lease: LEASE },
    examples: [{ run: "haversack heartbeat --agent alice", says: "all of alice's claims" }],
    json: "[{id, lease_until}].",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [taskId] = call.arguments;
      const outcome = await heartbeat(taskId === undefined ? {} : { taskId }, work);
      if (outcome.kind !== "prolonged") return refuse(call, outcome);
      print(call, outcome.views, () =>
        outcome.claims.map((claim) => `${claim.taskId}: ${formatClaim(claim, work.by.at)}`).join("\n"),
      );
      return 0;
    });
  },
};
