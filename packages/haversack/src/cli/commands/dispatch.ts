import { resolve } from "node:path";
import { RESUMABLE_NAMES } from "../../clients/resumable.ts";
import type { Dispatched, DispatchRequest } from "../../engine/artifacts/artifact-operations.ts";
import { dispatchRole } from "../../engine/artifacts/dispatch-role.ts";
import { viewDispatch } from "../../engine/artifacts/views.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { FEATURE, formatNumber, PHASE, ROLE, requireOption, runArtifacts } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, option, print, sayNote, wholeNumber } from "../command.ts";
import { readFileOrStdin, readList, readText, refuse } from "../work.ts";
import { AGENT } from "../work-options.ts";

const CONTEXT_TOKENS = 1_000;

export const spec: CommandSpec = {
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
    "context-tokens": option("N", `How many tokens of it (default ${CONTEXT_TOKENS}).`, {
      type: "integer",
      minimum: 50,
      maximum: 100_000,
    }),
    "fix-summary": option("TEXT", "For a resume (setting artifacts.resume): what was done; - reads standard input."),
    "resume-failed": option("TEXT", "A resume failed, for this reason: the next one starts fresh."),
    client: option("NAME", "The client that starts it (default claude-code).", { choices: Object.keys(PROFILES) }),
    agent: AGENT,
  },
  examples: [
    {
      run: "haversack review dispatch spec-reviewer --feature docs/features/031-uploads",
      says: "the prompt of a reviewer",
    },
    {
      run: "haversack review dispatch implementer --feature 031-uploads --task 3",
      says: "the prompt of a worker on one task",
    },
  ],
  json: "{feature, phase, role, iteration, how: fresh|fallback|resume, reason?, note?, call: {description, subagent_type?, model?, prompt}, resume?: {agent_id, tool?, command?, how, if_it_fails}, references?, inlined?, problems?, tokens: {sent, reads, pasted, pasted_unpruned, resumed?, fresh?}}: resumed and fresh are of the way not taken.",
};

export function run(call: Call): Promise<ExitCode> {
  const [role = ""] = call.arguments;
  const feature = requireOption(call, "feature", "DIR");
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
              // Absolute, because the agent that gets the prompt may work in another folder.
              ...(context !== "-" && { path: resolve(call.io.cwd, context) }),
              budgetTokens: (options["context-tokens"] as number | undefined) ?? CONTEXT_TOKENS,
            },
      fixSummary: await readText(call, options["fix-summary"] as string | undefined),
      resumeFailure: options["resume-failed"] as string | undefined,
    };
    const outcome = await dispatchRole(request, parts);
    if (outcome.kind === "refused") return refuse(call, outcome);
    print(call, viewDispatch(outcome), () => outcome.call.prompt, { isVerbatim: true });
    if (!call.json) sayNote(call.io, ...outcome.problems, ...describe(outcome, parts.client));
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
