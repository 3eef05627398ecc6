import { RESUMABLE_NAMES, resumableClient } from "../../clients/resumable.ts";
import { CLIENTS } from "../../clients/table.ts";
import { describeCheck, tryResume } from "../../engine/artifacts/check-resume.ts";
import { runDoctor } from "../../engine/doctor.ts";
import { projectPaths } from "../../engine/project.ts";
import { checkoutOf } from "../../engine/wired-place.ts";
import type { Finding } from "../../engine/wiring.ts";
import { runArtifacts } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, option, print, sayNote } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { paint, wrapText } from "../terminal.ts";
import { describeCheckout, guardCount } from "../wiring.ts";

export const spec: CommandSpec = {
  about:
    "Checks everything from the runtime to the client: store, settings, index, hooks (with a test event through each), the MCP server, and the client's own listing. Changes nothing; only --try-resume stores its result. Exit 1 if a check failed, 0 if there are only warnings.",
  options: {
    "try-resume": option(
      "CLIENT",
      "Check only whether the client can resume an agent that has read a file, for the setting artifacts.resume. Calls your model a few times and stores the result.",
      { choices: RESUMABLE_NAMES },
    ),
  },
  examples: [
    { run: "haversack doctor", says: "what is wrong, and what to do about it" },
    { run: "haversack doctor --json", says: "the same for a script" },
    { run: "haversack doctor --try-resume claude-code", says: "once, before you switch on artifacts.resume" },
  ],
  json: "{ok, project, findings: [{part, level, text, remedy?}]}: level is ok, warn or fail.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { cwd, env } = call.io;
  const paths = projectPaths(cwd, env);
  const trial = call.options["try-resume"] as string | undefined;
  if (trial !== undefined) return report(call, paths.root, await tryClient(call, trial));
  const findings = await runDoctor({
    paths,
    cwd,
    env,
    installed: findInstalled(),
    now: new Date(),
    clients: CLIENTS,
    guardCount,
  });
  return report(call, paths.root, findings);
}

/** Announces that the trial calls a model before it begins. */
async function tryClient(call: Call, name: string): Promise<Finding[]> {
  const { io } = call;
  const { title, requests, clients } = resumableClient(name, io.env);
  sayNote(io, `this starts ${title} headless, in a folder of its own: about ${requests} short requests to your model`);
  const findings: Finding[] = [];
  await runArtifacts(call, { isWrite: true }, async ({ store }) => {
    for (const client of clients) {
      const check = await tryResume(client, { store, env: io.env, now: new Date() });
      // A user who asks for the trial wants the details; in the whole check it is one line among others.
      findings.push({ ...describeCheck(check), ...(!check.isOk && { level: "fail" as const }) });
    }
    return 0;
  });
  return findings;
}

function report(call: Call, project: string, findings: readonly Finding[]): ExitCode {
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const failed = count("fail");
  print(call, { ok: failed === 0, project, findings }, () => {
    const warned = count("warn");
    const named = (level: Finding["level"]) => [
      ...new Set(findings.filter((finding) => finding.level === level).map(({ part }) => part)),
    ];
    const looks = `${warned === 1 ? "1 warning" : `${warned} warnings`} (${named("warn").join(", ")})`;
    const verdict =
      failed > 0
        ? `Not working: ${failed} of ${findings.length} checks failed (${named("fail").join(", ")})${warned > 0 ? `, ${looks}` : ""}.`
        : warned > 0
          ? `Works, with ${looks}: ${findings.length} checks, none failed.`
          : `All is well: ${findings.length} checks passed.`;
    return [
      `Project: ${describeCheckout(checkoutOf(call.io.cwd))}`,
      "",
      ...findings.flatMap((finding) => lines(call.io, finding)),
      "",
      verdict,
    ].join("\n");
  });
  return failed === 0 ? 0 : 1;
}

function lines(io: Io, { part, level, text, remedy }: Finding): string[] {
  const mark =
    level === "ok"
      ? paint(io, "green", "ok  ")
      : level === "warn"
        ? paint(io, "yellow", "warn")
        : paint(io, "red", "FAIL");
  const wrapped = (line: string) => wrapText(line, io.width === undefined ? undefined : io.width - INDENT.length);
  const [first, ...rest] = wrapped(`${part}: ${text}`);
  const [advice, ...more] = remedy && level !== "ok" ? wrapped(`→ ${remedy}`) : [];
  return [
    `${mark}  ${first}`,
    ...[...rest, ...(advice === undefined ? [] : [paint(io, "bold", advice)]), ...more.map((line) => `  ${line}`)].map(
      (line) => `${INDENT}${line}`,
    ),
  ];
}

const INDENT = " ".repeat("FAIL  ".length);
