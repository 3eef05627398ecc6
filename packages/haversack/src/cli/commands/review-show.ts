import { cleanLine } from "../../base/clean-text.ts";
import { openFeature } from "../../engine/artifacts/open-feature.ts";
import { viewLoop } from "../../engine/artifacts/views.ts";
import type { ReviewLoop } from "../../store/artifact-store.ts";
import { FEATURE, requireOption, runArtifacts } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { paint } from "../terminal.ts";

export const spec: CommandSpec = {
  about: "The reviews of a feature: iterations with their verdicts, issues with their status, decisions about issues.",
  options: { feature: FEATURE },
  examples: [{ run: "haversack review show --feature docs/features/031-uploads", says: "how its reviews stand" }],
  json: "[{feature, phase, role, iterations: [{iteration, verdict, issues, summary?, at, by, agent_id?}], issues?: [{id, severity, description, location?, status: open|resolved|accepted, since_iteration, reopened?}], decisions?, resume?}].",
};

export function run(call: Call): Promise<ExitCode> {
  const folder = requireOption(call, "review show", "feature", "DIR");
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
