import type { ReceiptReport } from "../../engine/artifacts/artifact-operations.ts";
import { reportReceipts } from "../../engine/artifacts/report-receipts.ts";
import { formatNumber, formatShare, runArtifacts } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, option, print } from "../command.ts";
import { parseAge } from "../parse.ts";
import { table } from "../print-work.ts";

export const spec: CommandSpec = {
  about:
    "Shows how often a role did not read a required document, and what dispatches cost. Exit 1 above 20%: then references do not work well here.",
  options: {
    since: option("AGE", "Only since then: an age such as 30d or 12h, or a date."),
  },
  examples: [{ run: "haversack review receipts --since 30d", says: "the last month" }],
  json: "{total, missing, rate, above_gate, rates: [{role, file, total, missing, rate, share, from_events, above_gate}], dispatches: [{role, dispatches, resumes, fallbacks, sent, reads, pasted, pasted_unpruned, saved}]}: saved is by resumes, against fresh dispatches.",
};

export function run(call: Call): Promise<ExitCode> {
  const { since: age } = call.options as { since?: string };
  const since = age === undefined ? undefined : parseAge(age, new Date());
  return runArtifacts(call, { isWrite: false }, async (parts) => {
    const report = await reportReceipts({ since }, parts);
    print(call, view(report), () => format(call.io, report));
    return report.isAboveGate ? 1 : 0;
  });
}

function view({ total, missing, rate, isAboveGate, rates, dispatches }: ReceiptReport): object {
  return {
    total,
    missing,
    rate: rounded(rate),
    above_gate: isAboveGate,
    rates: rates.map((each) => ({
      role: each.role,
      file: each.file,
      total: each.total,
      missing: each.missing,
      rate: rounded(each.rate),
      share: rounded(each.share),
      from_events: each.fromEvents,
      above_gate: each.isAboveGate,
    })),
    dispatches: dispatches.map(({ pastedUnpruned, ...each }) => ({ ...each, pasted_unpruned: pastedUnpruned })),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function format(io: Io, { total, missing, rate, isAboveGate, rates, dispatches }: ReceiptReport): string {
  const cost = dispatches.map(({ role, dispatches: count, resumes, fallbacks, sent, reads, pasted, saved }) =>
    cells([
      role,
      `${count} ${count === 1 ? "dispatch" : "dispatches"}`,
      `${formatNumber(sent)} sent`,
      `${formatNumber(reads)} to read`,
      `${formatNumber(pasted)} pasted`,
      ...(resumes > 0 ? [`${resumes} resumed: ${formatNumber(saved)} saved`] : []),
      ...(fallbacks > 0 ? [`${fallbacks} could not be resumed`] : []),
    ]),
  );
  const costLines = cost.length === 0 ? [] : ["", "Tokens", ...table(io, cost)];
  if (total === 0) return ["No receipts yet: no answer was recorded.", ...costLines].join("\n");
  const rows = rates.map((each) => [
    ...cells([each.role, each.file, `${each.missing} of ${each.total} missing`]),
    {
      text: formatShare(each.rate),
      ...(each.isAboveGate && { style: "red" as const }),
    },
    { text: `${formatShare(each.share)} seen on average` },
    { text: `${each.fromEvents} by tool calls`, style: "dim" as const },
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

function cells(texts: readonly string[]): { text: string }[] {
  return texts.map((text) => ({ text }));
}
