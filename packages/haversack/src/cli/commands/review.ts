/** Reviews of a feature's documents. */
import { resolve } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { RESUMABLE_NAMES } from "../../clients/resumable.ts";
import type { Dispatched, ReceiptReport, RecordOutcome } from "../../engine/artifacts/artifact-operations.ts";
import { dispatchRole } from "../../engine/artifacts/dispatch-role.ts";
import { openFeature } from "../../engine/artifacts/open-feature.ts";
import { decideIssue, recordReview } from "../../engine/artifacts/record-review.ts";
import { reportReceipts } from "../../engine/artifacts/report-receipts.ts";
import { viewDispatch, viewLoop, viewRecorded } from "../../engine/artifacts/views.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import type { ReviewLoop } from "../../store/artifact-records.ts";
import { defineArtifacts, FEATURE, PHASE, ROLE } from "../artifacts.ts";
import { type Io, option, sayWarning, wholeNumber } from "../command.ts";
import { parseAge } from "../parse.ts";
import { dim, table } from "../print-work.ts";
import { counted, formatNumber, formatShare, paint } from "../terminal.ts";
import { readFileOrStdin, readList, readText } from "../work.ts";
import { AGENT } from "../work-options.ts";

const CONTEXT_TOKENS = 1_000;

export const commands = {
  "review dispatch": defineArtifacts("save", {
    about:
      "Prints the finished prompt for a role: what to do, the document under review, and references to all others that must be read, with line counts. Includes open issues of earlier iterations. Standard error shows its tokens, and what the same prompt would cost with all documents pasted.",
    arguments: [ROLE],
    options: {
      feature: FEATURE,
      phase: PHASE,
      iteration: wholeNumber("N", "Which iteration (default: the one after the last recorded).", { maximum: 1000 }),
      task: option("ID", "For a worker: a heading or number in tasks.md, or a stored task's id."),
      files: option(
        "PATH",
        "For reviews of code: a file to review; repeat it, or use commas (default: what git says has changed).",
        { repeat: true },
      ),
      base: option("REV", "Where git starts to look for changes (default: the branch's start)."),
      context: option("FILE", "A text about the project, cut to --context-tokens."),
      "context-tokens": wholeNumber("N", `How many tokens of it (default ${CONTEXT_TOKENS}).`, {
        minimum: 50,
        maximum: 100_000,
      }),
      "fix-summary": option("TEXT", "For a resume (setting artifacts.resume): what was done; - reads standard input."),
      "resume-failed": option("TEXT", "A resume failed, for this reason: the next one starts fresh."),
      client: option("NAME", "The client that starts it (default claude-code).", { choices: Object.keys(PROFILES) }),
      agent: AGENT,
    },
    examples: {
      "haversack review dispatch spec-reviewer --feature docs/features/031-uploads": "the prompt of a reviewer",
      "haversack review dispatch implementer --feature 031-uploads --task 3": "the prompt of a worker on one task",
    },
    json: "{feature, phase, role, iteration, how: fresh|fallback|resume, reason?, note?, call: {description, subagent_type?, model?, prompt}, resume?: {agent_id, tool?, command?, how, if_it_fails}, references?, inlined?, problems?, tokens: {sent, reads, pasted, pasted_unpruned, resumed?, fresh?}}: resumed and fresh are of the way not taken.",
    async run(call, parts, role) {
      const { feature, phase, iteration, task, base, files, context, "resume-failed": resumeFailure } = call.options;
      const { "context-tokens": budgetTokens = CONTEXT_TOKENS, "fix-summary": fixSummary } = call.options;
      const projectContext = context !== undefined && {
        text: await readFileOrStdin(call, context),
        // Absolute, because the agent that gets the prompt may work in another folder.
        ...(context !== "-" && { path: resolve(call.io.cwd, context) }),
        budgetTokens,
      };
      const outcome = await dispatchRole(
        {
          ...{ role, feature, phase, iteration, task, base, resumeFailure, files: readList(files) },
          projectContext: projectContext || undefined,
          fixSummary: await readText(call, fixSummary),
        },
        parts,
      );
      if (outcome.kind === "refused") return outcome;
      const notes = call.json ? [] : [...outcome.problems, ...describeDispatch(outcome, parts.client)];
      return { data: viewDispatch(outcome), text: outcome.call.prompt, isVerbatim: true, notes };
    },
  }),
  "review record": defineArtifacts("save", {
    about:
      "Reads a reviewer's answer from standard input and records its verdict, its issues, and whether it read the required documents (from its tool calls if hooks saw them, else from its 'Files read:' line). Adds an entry to .review-history.md. The next iteration's prompt lists the open issues.",
    arguments: [ROLE],
    options: {
      feature: FEATURE,
      phase: PHASE,
      iteration: wholeNumber("N", "Required: which iteration it answers.", { maximum: 1000, needs: " N" }),
      "sub-agent": option("ID", "The sub-agent's id (default: the newest of that role which hooks have seen)."),
      agent: AGENT,
    },
    oldOptions: { "agent-id": "sub-agent" },
    examples: {
      "haversack review record spec-reviewer --feature 031-uploads --iteration 1 < answer.txt": "one iteration",
    },
    json: "{feature, phase, role, iteration, verdict: approved|rejected|blocked, open_issues: [{id, severity, description, location?, status, since_iteration}], receipts?: {source: events|claim, documents: [{file, status: read|partial|unread, share}], warning?}, problems?, repeated?}.",
    async run(call, parts, role) {
      const { feature, iteration, phase, "sub-agent": agentId } = call.options;
      const answer = await call.io.readStdin();
      const outcome = await recordReview({ role, feature, phase, iteration, agentId, answer }, parts);
      if (outcome.kind === "refused") return outcome;
      const { warning } = outcome.judgement ?? {};
      if (warning !== undefined && !call.json) sayWarning(call.io, warning);
      const notes = outcome.kind === "recorded" && !call.json ? outcome.problems : [];
      return { data: viewRecorded(outcome), text: () => describeReview(outcome), notes };
    },
  }),
  "review show": defineArtifacts("read", {
    about:
      "Shows the reviews of a feature: iterations with their verdicts, issues with their status, decisions about issues.",
    options: { feature: FEATURE },
    examples: { "haversack review show --feature docs/features/031-uploads": "how its reviews stand" },
    json: "[{feature, phase, role, iterations: [{iteration, verdict, issues, summary?, at, by, agent_id?}], issues?: [{id, severity, description, location?, status: open|resolved|accepted, since_iteration, reopened?}], decisions?, resume?}].",
    async run({ options, io }, parts) {
      const { key } = openFeature(options.feature, parts);
      const loops = await parts.store.listLoops(key);
      const text = () => loops.map((loop) => formatLoop(io, loop)).join("\n\n") || `No review of ${key} is recorded.`;
      return { data: loops.map(viewLoop), text };
    },
  }),
  "review decide": defineArtifacts("save", {
    about:
      "Decides that issues stay as they are, and why. The decision goes into .review-history.md, and the next iteration is told not to raise the issue again.",
    arguments: [
      ROLE,
      { name: "ISSUE", about: "ids, such as R2", required: true, many: true },
      { name: "REASON", about: "why, as the last argument; - reads standard input", required: true },
    ],
    options: { feature: FEATURE, phase: PHASE, agent: AGENT },
    examples: {
      "haversack review decide spec-reviewer R2 'Out of scope until the API is public' --feature 031-uploads":
        "an issue that stays",
    },
    jsonOfEach: "{id, status, severity, description}",
    several: "lines",
    idsAt: (words) => [1, words.length - 2],
    async run(call, parts) {
      const [role = "", issueId = "", reason = ""] = call.arguments;
      const { feature, phase } = call.options;
      const text = (await readText(call, reason)) ?? "";
      const { id, status, severity, description } = await decideIssue({ role, feature, phase, issueId, text }, parts);
      return { data: { id, status, severity, description }, text: `${id} stays as it is.` };
    },
  }),
  "review receipts": defineArtifacts("read", {
    about:
      "Shows how often a role did not read a required document, and what dispatches cost. Exit 1 above 20%: then references do not work well here.",
    options: {
      since: option("AGE", "Only since then: an age such as 30d or 12h, or a date."),
    },
    examples: { "haversack review receipts --since 30d": "the last month" },
    json: "{total, missing, rate, above_gate, rates: [{role, file, total, missing, rate, share, from_events, above_gate}], dispatches: [{role, dispatches, resumes, fallbacks, sent, reads, pasted, pasted_unpruned, saved}]}: saved is by resumes, against fresh dispatches.",
    async run({ options: { since }, io }, parts) {
      const report = await reportReceipts({ since: since ? parseAge(since, new Date()) : undefined }, parts);
      return { data: viewReceipts(report), text: () => formatReceipts(io, report), code: report.isAboveGate ? 1 : 0 };
    },
  }),
};

function describeReview(outcome: Exclude<RecordOutcome, { kind: "refused" }>): string {
  const { judgement, loop } = outcome;
  const read = judgement
    ? `${judgement.documents.length - judgement.missing.length} of ${judgement.documents.length} documents read, by its ${judgement.source === "events" ? "tool calls" : "own word"}`
    : "no documents to read";
  if (outcome.kind === "receipts-only") return `${loop.role} gives no verdict; receipts kept: ${read}.`;
  const { review, issues, isRepeated, history } = outcome;
  const open = issues.filter(({ status }) => status === "open");
  const head = `${loop.role}, iteration ${review.iteration}: ${review.verdict}${isRepeated ? " (recorded before)" : ""}; ${counted(open.length, "open issue")}; ${read}.`;
  const lines = open.map(({ id, severity, description }) => `  ${id} [${severity}] ${cleanLine(description)}`);
  return [head, ...lines, `In ${history}.`].join("\n");
}

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

function describeDispatch(
  { how, reason, note, resume, tokens, otherTokens, loop, iteration }: Dispatched,
  client: string,
): string[] {
  const { sent, reads, pasted, pastedUnpruned } = tokens;
  const more =
    pastedUnpruned === pasted ? "" : ` (${formatNumber(pastedUnpruned)} with all documents of ${loop.phase})`;
  const whole = `pasted it would be ${formatNumber(pasted)}${more}`;
  if (resume) {
    const again = `haversack review dispatch ${loop.role} --feature ${loop.feature} --phase ${loop.phase} --iteration ${iteration}`;
    const fresh = otherTokens ?? 0;
    return [
      `a resume: ${resume.text}`,
      `if that fails: \`${again} --resume-failed "the error"\` prints a fresh prompt`,
      `${formatNumber(sent)} tokens sent; a fresh dispatch would be ${formatNumber(fresh)} with what it reads (${formatNumber(fresh - sent)} saved)`,
    ];
  }
  return [
    ...(how === "fallback" ? [`a fresh dispatch in place of a resume: ${note?.split(" — ")[1] ?? reason}`] : []),
    ...(reason === "client-cannot"
      ? [
          RESUMABLE_NAMES.includes(client)
            ? `no resume: ${client} was not seen to go on with an agent; \`haversack doctor --try-resume ${client}\` tries it`
            : `no resume: an agent of ${client} cannot be resumed; ${RESUMABLE_NAMES.join(" and ")} can be tried`,
        ]
      : []),
    `${formatNumber(sent)} tokens sent, ${formatNumber(reads)} to be read; ${whole}`,
  ];
}

function viewReceipts({ total, missing, rate, isAboveGate, rates, dispatches }: ReceiptReport): object {
  return {
    total,
    missing,
    rate: rounded(rate),
    above_gate: isAboveGate,
    rates: rates.map(({ role, file, total, missing, rate, share, fromEvents, isAboveGate }) => ({
      ...{ role, file, total, missing, rate: rounded(rate), share: rounded(share) },
      ...{ from_events: fromEvents, above_gate: isAboveGate },
    })),
    dispatches,
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function formatReceipts(io: Io, { total, missing, rate, isAboveGate, rates, dispatches }: ReceiptReport): string {
  const cost = dispatches.map(({ role, dispatches: count, resumes, fallbacks, sent, reads, pasted, saved }) => [
    role,
    counted(count, "dispatch", "dispatches"),
    `${formatNumber(sent)} sent`,
    `${formatNumber(reads)} to read`,
    `${formatNumber(pasted)} pasted`,
    ...(resumes > 0 ? [`${resumes} resumed: ${formatNumber(saved)} saved`] : []),
    ...(fallbacks > 0 ? [`${fallbacks} could not be resumed`] : []),
  ]);
  const costLines = cost.length === 0 ? [] : ["", "Tokens", ...table(io, cost)];
  if (total === 0) return ["No receipts yet: no answer was recorded.", ...costLines].join("\n");
  const rows = rates.map(({ role, file, missing: unread, total: all, rate: share, ...each }) => [
    ...[role, file, `${unread} of ${all} missing`],
    each.isAboveGate ? { text: formatShare(share), style: "red" as const } : formatShare(share),
    `${formatShare(each.share)} seen on average`,
    dim(`${each.fromEvents} by tool calls`),
  ]);
  const worst = rates.filter((each) => each.isAboveGate).map(({ role, file }) => `${role} does not read ${file}`);
  const verdict = isAboveGate
    ? "More than 20% are missing: these references do not work. Look at the worst roles: give them fewer documents, or paste what they skip."
    : `Within the limit of 20%${worst.length === 0 ? "" : `, but not everywhere: ${worst.join(", ")}`}.`;
  return [
    ...table(io, rows),
    "",
    `${missing} of ${total} receipts are missing (${formatShare(rate)}). ${verdict}`,
    ...costLines,
  ].join("\n");
}
