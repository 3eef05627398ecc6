import { resolve } from "node:path";
import { RESUMABLE_NAMES } from "../../clients/resumable.ts";
import type { Dispatched, DispatchRequest } from "../../engine/artifacts/artifact-operations.ts";
import { dispatchRole } from "../../engine/artifacts/dispatch-role.ts";
import { viewDispatch } from "../../engine/artifacts/views.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { FEATURE, formatNumber, PHASE, ROLE, requireOption, runArtifacts, warn } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { readFileOrStdin, readList, readText, refuse } from "../work.ts";
import { AGENT } from "../work-options.ts";

const CONTEXT_TOKENS = 1_000;

export const spec: CommandSpec = {
  about:
    "Prints the finished prompt for a role: what to do, the document under review, and references to all others that must be read, with line counts. Its tokens, and those of the same prompt with the documents pasted, are on standard error. Issues of earlier iterations are in it.",
  arguments: [ROLE],
  options: {
    feature: FEATURE,
    phase: PHASE,
    iteration: {
      type: "integer",
      value: "N",
      minimum: 1,
      maximum: 1000,
      about: "Which iteration (default: the one after the last recorded).",
    },
    task: {
      type: "string",
      value: "ID",
      about: "For a worker: a heading or number in tasks.md, or a stored task's id.",
    },
    files: {
      type: "string",
      value: "PATH",
      repeat: true,
      about:
        "For reviews of code: a file that is meant; repeat it, or use commas (default: what git says has changed).",
    },
    base: {
      type: "string",
      value: "REV",
      about: "Where git starts to look for changes (default: the branch's start).",
    },
    context: { type: "string", value: "FILE", about: "A text about the project, cut to --context-tokens." },
    "context-tokens": {
      type: "integer",
      value: "N",
      minimum: 50,
      maximum: 100_000,
      about: `How many tokens of it (default ${CONTEXT_TOKENS}).`,
    },
    "fix-summary": {
      type: "string",
      value: "TEXT",
      about: "For a resume (setting artifacts.resume): what was done; - reads standard input.",
    },
    "resume-failed": { type: "string", value: "TEXT", about: "A resume was tried and failed so: the next is fresh." },
    client: {
      type: "string",
      value: "NAME",
      choices: Object.keys(PROFILES),
      about: "The client that starts it (default claude-code).",
    },
    agent: AGENT,
  },
  examples: [
    { run: "haversack dispatch spec-reviewer --feature docs/features/031-uploads", says: "the prompt of a reviewer" },
    {
      run: "haversack dispatch implementer --feature 031-uploads --task 3",
      says: "the prompt of a worker on one task",
    },
  ],
  json: "{feature, phase, role, iteration, how: fresh|fallback|resume, reason?, note?, call: {description, subagent_type?, model?, prompt}, resume?: {agent_id, tool?, command?, how, if_it_fails}, references?, inlined?, problems?, tokens: {sent, reads, pasted, pasted_unpruned, resumed?, fresh?}}: resumed and fresh are of the way not taken.",
};

export function run(call: Call): Promise<ExitCode> {
  const [role = ""] = call.arguments;
  const feature = requireOption(call, "dispatch", "feature", "DIR");
  return runArtifacts(call, { isWrite: true }, async (parts) => {
    const { options } = call;
    const context = options["context"] as string | undefined;
    const request: DispatchRequest = {
      role,
      feature,
      phase: options["phase"] as string | undefined,
      iteration: options["iteration"] as number | undefined,
      task: options["task"] as string | undefined,
      files: readList(options["files"]),
      base: options["base"] as string | undefined,
      projectContext:
        context === undefined
          ? undefined
          : {
              text: await readFileOrStdin(call, context),
              // Whoever reads the prompt may work in another folder.
              ...(context !== "-" && { path: resolve(call.io.cwd, context) }),
              budgetTokens: (options["context-tokens"] as number | undefined) ?? CONTEXT_TOKENS,
            },
      fixSummary: await readText(call, options["fix-summary"] as string | undefined),
      resumeFailure: options["resume-failed"] as string | undefined,
    };
    const outcome = await dispatchRole(request, parts);
    if (outcome.kind === "refused") return refuse(call, outcome);
    print(call, viewDispatch(outcome), () => outcome.call.prompt);
    if (!call.json) warn(call, [...outcome.problems, ...describe(outcome, parts.client)]);
    return 0;
  });
}

function describe(
  { how, reason, note, resume, tokens, otherTokens, loop, iteration }: Dispatched,
  client: string,
): string[] {
  const { sent, reads, pasted, pastedUnpruned } = tokens;
  const more =
    pastedUnpruned === pasted ? "" : ` (${formatNumber(pastedUnpruned)} with all documents of ${loop.phase})`;
  const whole = `pasted it would be ${formatNumber(pasted)}${more}`;
  if (resume) {
    const again = `haversack dispatch ${loop.role} --feature ${loop.feature} --phase ${loop.phase} --iteration ${iteration}`;
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
