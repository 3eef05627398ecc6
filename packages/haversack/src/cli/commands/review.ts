/** Reviews of a feature's documents. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { RecordOutcome } from "../../engine/artifacts/artifact-operations.ts";
import { openFeature } from "../../engine/artifacts/open-feature.ts";
import { decideIssue, recordReview } from "../../engine/artifacts/record-review.ts";
import { viewLoop, viewRecorded } from "../../engine/artifacts/views.ts";
import type { ReviewLoop } from "../../store/artifact-records.ts";
import { FEATURE, PHASE, ROLE, requireOption, runArtifacts } from "../artifacts.ts";
import {
  type Command,
  eachOne,
  type Io,
  option,
  print,
  sayNote,
  sayWarning,
  several,
  wholeNumber,
} from "../command.ts";
import { paint } from "../terminal.ts";
import { readText, refuse } from "../work.ts";
import { AGENT } from "../work-options.ts";

const reviewRecord: Command = {
  spec: {
    about:
      "Reads a reviewer's answer from standard input and records its verdict, its issues, and whether it read the required documents (from its tool calls if hooks saw them, else from its 'Files read:' line). Adds an entry to .review-history.md. The next iteration's prompt lists the open issues.",
    arguments: [ROLE],
    options: {
      feature: FEATURE,
      phase: PHASE,
      iteration: wholeNumber("N", "Required: which iteration it answers.", { maximum: 1000 }),
      "sub-agent": option("ID", "The sub-agent's id (default: the newest of that role which hooks have seen)."),
      agent: AGENT,
    },
    oldOptions: { "agent-id": "sub-agent" },
    examples: [
      {
        run: "haversack review record spec-reviewer --feature 031-uploads --iteration 1 < answer.txt",
        says: "one iteration",
      },
    ],
    json: "{feature, phase, role, iteration, verdict: approved|rejected|blocked, open_issues: [{id, severity, description, location?, status, since_iteration}], receipts?: {source: events|claim, documents: [{file, status: read|partial|unread, share}], warning?}, problems?, repeated?}.",
  },
  run(call) {
    const [role = ""] = call.arguments;
    const feature = requireOption(call, "feature", "DIR");
    const {
      iteration,
      phase,
      "sub-agent": agentId,
    } = call.options as {
      iteration?: number;
      phase?: string;
      "sub-agent"?: string;
    };
    if (iteration === undefined) throw new HaversackError("usage", "review record needs --iteration N");
    return runArtifacts(call, { isWrite: true }, async (parts) => {
      const answer = await call.io.readStdin();
      const outcome = await recordReview({ role, feature, phase, iteration, agentId, answer }, parts);
      if (outcome.kind === "refused") return refuse(call, outcome);
      print(call, viewRecorded(outcome), () => describe(outcome));
      if (!call.json) {
        const { warning } = outcome.judgement ?? {};
        sayNote(call.io, ...(outcome.kind === "recorded" ? outcome.problems : []));
        if (warning !== undefined) sayWarning(call.io, warning);
      }
      return 0;
    });
  },
};

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

const reviewShow: Command = {
  spec: {
    about:
      "Shows the reviews of a feature: iterations with their verdicts, issues with their status, decisions about issues.",
    options: { feature: FEATURE },
    examples: [{ run: "haversack review show --feature docs/features/031-uploads", says: "how its reviews stand" }],
    json: "[{feature, phase, role, iterations: [{iteration, verdict, issues, summary?, at, by, agent_id?}], issues?: [{id, severity, description, location?, status: open|resolved|accepted, since_iteration, reopened?}], decisions?, resume?}].",
  },
  run(call) {
    const folder = requireOption(call, "feature", "DIR");
    return runArtifacts(call, { isWrite: false }, async (parts) => {
      const feature = openFeature(folder, parts);
      const loops = await parts.store.listLoops(feature.key);
      print(call, loops.map(viewLoop), () =>
        loops.length === 0
          ? `No review of ${feature.key} is recorded.`
          : loops.map((loop) => formatLoop(call.io, loop)).join("\n\n"),
      );
      return 0;
    });
  },
};

function formatLoop(io: Io, { phase, role, reviews, issues, decisions }: ReviewLoop): string {
  const iterations = reviews.map(({ iteration, verdict, issues: found, at }) => {
    const style = verdict === "approved" ? "green" : verdict === "blocked" ? "red" : "yellow";
    return `  ${iteration}  ${paint(io, style, verdict)}  ${found.length} found  ${at.toISOString()}`;
  });
  const lines = issues.map(({ id, severity, status, description, isReopened }) => {
    const decided = decisions.findLast(({ issueId }) => issueId === id)?.text;
    const end = status === "accepted" && decided !== undefined ? ` — ${cleanLine(decided)}` : "";
    return `  ${id}  ${status}${isReopened ? " again" : ""}  [${severity}] ${cleanLine(description)}${end}`;
  });
  return [paint(io, "bold", `${role} (${phase})`), ...iterations, ...lines].join("\n");
}

const reviewDecide: Command = {
  spec: {
    about:
      "Decides that issues stay as they are, and why. The decision goes into .review-history.md, and the next iteration is told not to raise the issue again.",
    arguments: [
      ROLE,
      { name: "ISSUE", about: "ids, such as R2", required: true, many: true },
      { name: "REASON", about: "why, as the last argument; - reads standard input", required: true },
    ],
    options: { feature: FEATURE, phase: PHASE, agent: AGENT },
    examples: [
      {
        run: "haversack review decide spec-reviewer R2 'Out of scope until the API is public' --feature 031-uploads",
        says: "an issue that stays",
      },
    ],
    json: several("{id, status, severity, description}"),
  },
  run: eachOne(
    (call) => {
      const [role = "", issueId = "", reason = ""] = call.arguments;
      const feature = requireOption(call, "feature", "DIR");
      return runArtifacts(call, { isWrite: true }, async (parts) => {
        const text = (await readText(call, reason)) ?? "";
        const phase = call.options["phase"] as string | undefined;
        const { id, status, severity, description } = await decideIssue({ role, feature, phase, issueId, text }, parts);
        print(call, { id, status, severity, description }, () => `${id} stays as it is.`);
        return 0;
      });
    },
    {
      idsOf: (words) => words.slice(1, -1),
      wordsFor: (id, words) => [words[0] ?? "", id, words.at(-1) ?? ""],
      isBlock: false,
    },
  ),
};

export const commands: Readonly<Record<string, Command>> = {
  "review record": reviewRecord,
  "review show": reviewShow,
  "review decide": reviewDecide,
};
