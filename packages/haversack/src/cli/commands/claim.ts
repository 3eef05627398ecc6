import { cleanLine } from "../../base/clean-text.ts";
import { claimTask } from "../../engine/work/claims.ts";
import { type Call, type CommandSpec, type ExitCode, type OptionSpec, print } from "../command.ts";
import { wipLines } from "../print-wip.ts";
import { block, fields, formatSpan } from "../print-work.ts";
import { eachTask, isDone, several, TASKS, type TaskResult } from "../task-status.ts";
import { inputOf, type OpenWork, refuse, withWork } from "../work.ts";
import { AGENT, EPIC, FIELDS, LEASE, STORY } from "../work-options.ts";

export const CLAIM_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  agent: AGENT,
  lease: LEASE,
  force: { type: "boolean", about: "Claim even if dependencies are still open." },
  steal: { type: "string", value: "REASON", about: "Claim even if another agent holds it; the reason is stored." },
  fields: FIELDS,
};

export const CLAIM_JSON = `the task: ${several("{id, title, status, …, claim: {agent, lease_until}, note?}")} If one task alone is refused, nothing is printed, and the reason is on standard error.`;

export const spec: CommandSpec = {
  about:
    "Claims tasks for an agent: those named, or the next one that is ready. The first agent to claim a task gets it, from whatever process or machine. Exit 1 if nothing is ready or another agent has it.",
  arguments: [{ ...TASKS, about: `${TASKS.about} (default: the next that is ready)`, required: false }],
  options: { ...CLAIM_OPTIONS, epic: EPIC, story: STORY },
  examples: [
    { run: "haversack claim --agent alice", says: "the next one for alice" },
    { run: "haversack claim T4829 --agent alice --lease 30", says: "this one, for half an hour" },
  ],
  json: CLAIM_JSON,
};

export function run(call: Call): Promise<ExitCode> {
  const { epic, story } = call.options as { epic?: string; story?: string };
  return runClaim(call, call.arguments, {
    ...(epic !== undefined && { epicId: epic }),
    ...(story !== undefined && { storyId: story }),
  });
}

// `claim` and `task start`: what both ask for, and what both print.

type ClaimInput = Parameters<typeof claimTask>[0];

/** Without a task: the next ready one of the scope. */
export function runClaim(
  call: Call,
  taskIds: readonly string[],
  scope: Omit<ClaimInput, "taskId"> = {},
): Promise<ExitCode> {
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
