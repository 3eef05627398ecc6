import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { RecordOutcome } from "../../engine/artifacts/artifact-operations.ts";
import { recordReview } from "../../engine/artifacts/record-review.ts";
import { viewRecorded } from "../../engine/artifacts/views.ts";
import { FEATURE, PHASE, ROLE, requireOption, runArtifacts, warn } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { refuse } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Takes a reviewer's answer from standard input: its verdict, its issues, and whether it has read what it must (from its tool calls where hooks have seen them, else from its 'Files read:' line). Adds an entry to .review-history.md; what stands there stays. Open issues are in the prompt of the next iteration.",
  arguments: [ROLE],
  options: {
    feature: FEATURE,
    phase: PHASE,
    iteration: {
      type: "integer",
      value: "N",
      minimum: 1,
      maximum: 1000,
      about: "Required: which iteration it answers.",
    },
    "agent-id": {
      type: "string",
      value: "ID",
      about: "The sub-agent's id (default: the newest of that role which hooks have seen).",
    },
    agent: AGENT,
  },
  examples: [
    {
      run: "haversack review record spec-reviewer --feature 031-uploads --iteration 1 < answer.txt",
      says: "one iteration",
    },
  ],
  json: "{feature, phase, role, iteration, verdict: approved|rejected|blocked, open_issues: [{id, severity, description, location?, status, since_iteration}], receipts?: {source: events|claim, documents: [{file, status: read|partial|unread, share}], warning?}, problems?, repeated?}.",
};

export function run(call: Call): Promise<ExitCode> {
  const [role = ""] = call.arguments;
  const feature = requireOption(call, "review record", "feature", "DIR");
  const {
    iteration,
    phase,
    "agent-id": agentId,
  } = call.options as {
    iteration?: number;
    phase?: string;
    "agent-id"?: string;
  };
  if (iteration === undefined) throw new HaversackError("usage", "review record needs --iteration N");
  return runArtifacts(call, { isWrite: true }, async (parts) => {
    const answer = await call.io.readStdin();
    const outcome = await recordReview({ role, feature, phase, iteration, agentId, answer }, parts);
    if (outcome.kind === "refused") return refuse(call, outcome);
    print(call, viewRecorded(outcome), () => describe(outcome));
    if (!call.json) {
      const { warning } = outcome.judgement ?? {};
      warn(call, [
        ...(outcome.kind === "recorded" ? outcome.problems : []),
        ...(warning === undefined ? [] : [warning]),
      ]);
    }
    return 0;
  });
}

function describe(outcome: Exclude<RecordOutcome, { kind: "refused" }>): string {
  const { judgement, loop } = outcome;
  const read = judgement
    ? `${judgement.documents.length - judgement.missing.length} of ${judgement.documents.length} documents read, by its ${judgement.source === "events" ? "tool calls" : "own word"}`
    : "no documents to read";
  if (outcome.kind === "receipts-only") return `${loop.role} gives no verdict; receipts kept: ${read}.`;
  const { review, issues, isRepeated, history } = outcome;
  const open = issues.filter(({ status }) => status === "open");
  const head = `${loop.role}, iteration ${review.iteration}: ${review.verdict}${isRepeated ? " (recorded before)" : ""}; ${open.length} open ${open.length === 1 ? "issue" : "issues"}; ${read}.`;
  const lines = open.map(({ id, severity, description }) => `  ${id} [${severity}] ${cleanLine(description)}`);
  return [head, ...lines, `In ${history}.`].join("\n");
}
