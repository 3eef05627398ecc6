/** `claim` and `task start`: what both ask for, and what both print. */
import { cleanLine } from "../base/clean-text.ts";
import { freshenIndex } from "../engine/fresh-index.ts";
import { afterClaim } from "../engine/wake/after-claim.ts";
import { wakeSettings } from "../engine/wake/wake-settings.ts";
import { claimTask } from "../engine/work/claims.ts";
import { type Call, type ExitCode, type OptionSpec, print } from "./command.ts";
import { wipLines } from "./print-wip.ts";
import { block, fields, formatSpan } from "./print-work.ts";
import { inputOf, refuse, withWork } from "./work.ts";
import { AGENT, FIELDS, LEASE } from "./work-options.ts";

type ClaimInput = Parameters<typeof claimTask>[0];

export const CLAIM_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  agent: AGENT,
  lease: LEASE,
  force: { type: "boolean", about: "Although it waits for other tasks." },
  steal: { type: "string", value: "REASON", about: "Although another agent holds it; the reason is kept." },
  fields: FIELDS,
};

export const CLAIM_JSON =
  "the task: {id, title, status, …, claim: {agent, lease_until}, note?}; when refused nothing, the reason is on standard error.";

export function runClaim(call: Call, scope: ClaimInput): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const input = inputOf<ClaimInput>(call, { isForced: "force", stealReason: "steal", fields: "fields" });
    const places = { root: work.paths.root, env: call.io.env, folders: work.config["skills.folders"] };
    const follow = {
      ...work,
      settings: wakeSettings(work.config),
      cwd: call.io.cwd,
      freshen: (options: { isThorough: boolean }) => freshenIndex(work.handle, places, options),
    };
    const parts = { ...work, afterClaim: (taskId: string) => afterClaim(taskId, follow) };
    const outcome = await claimTask({ ...scope, ...input }, parts);
    if (outcome.kind !== "claimed") return refuse(call, outcome);
    const { claim, task, note, view } = outcome;
    print(
      call,
      { ...view, claim: { agent: claim.agent, lease_until: claim.leaseUntil }, ...(note && { note }) },
      () => {
        const span = formatSpan(claim.leaseUntil.getTime() - work.by.at.getTime());
        const wip = task.wip ? wipLines(task.wip) : [];
        return [
          `${task.id} is ${cleanLine(claim.agent)}'s for ${span}: ${cleanLine(task.title)}`,
          ...fields(call.io, [
            ["note", note && cleanLine(note)],
            ["skill", task.skill && cleanLine(task.skill)],
            ["files", task.files.map((file) => cleanLine(file)).join(", ")],
          ]),
          ...(wip.length > 0 ? ["Work in progress", block(wip.join("\n"))] : []),
          `\`haversack task show ${task.id}\` shows everything; \`haversack heartbeat ${task.id}\` prolongs the claim.`,
        ].join("\n");
      },
    );
    return 0;
  });
}
