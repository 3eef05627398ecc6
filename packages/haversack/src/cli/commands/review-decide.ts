import { decideIssue } from "../../engine/artifacts/decide-issue.ts";
import { FEATURE, PHASE, ROLE, requireOption, runArtifacts } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readText } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Decides that an issue stays as it is, and why. It is written into .review-history.md, and the next iteration is told not to raise it again.",
  arguments: [
    ROLE,
    { name: "ISSUE", about: "its id, such as R2", required: true },
    { name: "REASON", about: "why; - reads standard input", required: true },
  ],
  options: { feature: FEATURE, phase: PHASE, agent: AGENT },
  examples: [
    {
      run: "haversack review decide spec-reviewer R2 'Out of scope until the API is public' --feature 031-uploads",
      says: "an issue that stays",
    },
  ],
  json: "{id, status, severity, description}.",
};

export function run(call: Call): Promise<ExitCode> {
  const [role = "", issueId = "", reason = ""] = call.arguments;
  const feature = requireOption(call, "review decide", "feature", "DIR");
  return runArtifacts(call, { isWrite: true }, async (parts) => {
    const text = (await readText(call, reason)) ?? "";
    const phase = call.options["phase"] as string | undefined;
    const { id, status, severity, description } = await decideIssue({ role, feature, phase, issueId, text }, parts);
    print(call, { id, status, severity, description }, () => `${id} stays as it is.`);
    return 0;
  });
}
