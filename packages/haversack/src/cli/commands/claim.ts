/** Claiming, releasing and keeping tasks. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { type Claimed, claimTask, heartbeat, releaseTask } from "../../engine/work/claims.ts";
import { isAgentName } from "../../wake/text.ts";
import { viewClaim } from "../../work/task-view.ts";
import { flag, type Io, type Output, option, SEVERAL } from "../command.ts";
import { wipLines } from "../print-task.ts";
import { block, fields, formatClaim, formatSpan } from "../print-work.ts";
import { defineWork, inputOf, type OpenWork, TASK, TASKS } from "../work.ts";
import { AGENT, EPIC, FIELDS, LEASE, STORY } from "../work-options.ts";

export const commands = {
  "task claim": defineWork("save", {
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
    examples: {
      "haversack claim --agent alice": "the next one for alice",
      "haversack claim T4829 --agent alice --lease 30": "this one, for half an hour",
      "haversack claim T4829 --steal 'bob is gone'": "take it over",
    },
    json: `{id, title, status, …, claim: {agent, lease_until, unconfirmed?}, note?}. ${SEVERAL} A single task that is refused prints nothing; the reason is on standard error.`,
    several: "lines",
    async run(call, work) {
      const [taskId] = call.arguments;
      checkAgentName(call.options.agent);
      const outcome = await claimTask({ taskId, ...inputOf(call, "epic", "story", "force", "steal", "fields") }, work);
      if (outcome.kind === "claimed") return describeClaim(outcome, call.io, work);
      return taskId === undefined ? { hint: "`haversack next` says why", ...outcome } : outcome;
    },
  }),
  "task release": defineWork("save", {
    about: "Gives claimed tasks back to the queue, with their work in progress. Exit 1 if one is not yours.",
    arguments: [TASKS],
    options: {
      reason: option("TEXT", "Why; whoever takes it next is told."),
      agent: AGENT,
    },
    examples: { "haversack task release T4829 --agent alice --reason 'needs a database'": "for somebody else" },
    jsonOfEach: "{id, status}",
    several: "lines",
    async run(call, work, taskId) {
      const outcome = await releaseTask({ taskId, reason: call.options.reason }, work);
      if (outcome.kind === "refused") return outcome;
      const { id, status, title } = outcome.task;
      return { data: { id, status }, text: `${id} is back in the queue: ${cleanLine(title)}` };
    },
  }),
  "task heartbeat": defineWork("save", {
    about:
      "Extends the claims on tasks, or all claims of the agent. Exit 1 when a claim is lost: then stop working on the task. Sessions that hooks see need no heartbeat.",
    arguments: [{ ...TASKS, about: `${TASK.about} (default: all tasks that the agent holds)`, required: false }],
    options: { agent: AGENT, lease: LEASE },
    examples: { "haversack task heartbeat --agent alice": "all of alice's claims" },
    json: "[{id, lease_until}], also of several, with {id, error} for what failed. A single task that is refused prints nothing; the reason is on standard error.",
    several: "lines",
    async run(call, work) {
      const [taskId] = call.arguments;
      const outcome = await heartbeat({ taskId }, work);
      if (outcome.kind !== "prolonged") return outcome;
      const lines = outcome.claims.map((claim) => `${claim.taskId}: ${formatClaim(claim, work.by.at)}`);
      return { data: outcome.views, text: lines.join("\n") };
    },
  }),
};

/** Only what is typed here: the names that clients give their agents are taken as they are. */
function checkAgentName(name: string | undefined): void {
  if (name === undefined || isAgentName(name.replace(/^@/, ""))) return;
  throw new HaversackError(
    "usage",
    `--agent must be letters, digits, ".", "_" and "-", 64 at most, but is ${JSON.stringify(name)}`,
  );
}

function describeClaim({ claim, task, note, warning, view }: Claimed, io: Io, work: OpenWork): Output {
  const span = formatSpan(claim.leaseUntil.getTime() - work.by.at.getTime());
  const wip = task.wip ? wipLines(task.wip) : [];
  const lines = [
    `${task.id} is ${work.by.isPerson ? "yours" : `${cleanLine(claim.agent)}'s`} for ${span}: ${cleanLine(task.title)}`,
    ...(claim.isUnconfirmed ? [UNCONFIRMED] : []),
    ...(warning === undefined ? [] : [`Warning: ${warning}. The queue hands out those.`]),
    ...fields(io, [
      ["note", note && cleanLine(note)],
      ["skill", task.skill && cleanLine(task.skill)],
      ["files", task.files.map((file) => cleanLine(file)).join(", ")],
    ]),
    ...(wip.length > 0 ? ["Work in progress", block(wip.join("\n"))] : []),
    `\`haversack task show ${task.id}\` shows everything; \`haversack task heartbeat ${task.id}\` extends the claim.`,
  ];
  return { data: { ...view, claim: viewClaim(claim), ...(note && { note }) }, text: lines.join("\n") };
}

const UNCONFIRMED = "Unconfirmed: the shared store cannot be reached, so somebody else may have claimed it too.";
