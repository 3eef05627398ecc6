import { RESUMABLE_NAMES, resumableClient } from "../../clients/resumable.ts";
import { CLIENTS } from "../../clients/table.ts";
import { describeCheck, tryResume } from "../../engine/artifacts/check-resume.ts";
import { runDoctor } from "../../engine/doctor.ts";
import { projectPaths } from "../../engine/project.ts";
import { checkoutOf } from "../../engine/wired-place.ts";
import type { Finding } from "../../engine/wiring.ts";
import { openArtifacts } from "../artifacts.ts";
import { type Call, defineCommand, type Io, type Output, option, sayNote } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { counted, paint, wrapText } from "../terminal.ts";
import { describeCheckout, guardCount } from "../wiring.ts";

export const command = defineCommand({
  about:
    "Checks everything from the runtime to the client: store, settings, index, hooks (with a test event through each), the MCP server, and the client's own listing. Changes nothing; only --try-resume stores its result. Exit 1 if a check failed, 0 if there are only warnings.",
  options: {
    "try-resume": option(
      "CLIENT",
      "Check only whether the client can resume an agent that has read a file, for the setting artifacts.resume. Calls your model a few times and stores the result.",
      { choices: RESUMABLE_NAMES },
    ),
  },
  examples: {
    "haversack doctor": "what is wrong, and what to do about it",
    "haversack doctor --json": "the same for a script",
    "haversack doctor --try-resume claude-code": "once, before you switch on artifacts.resume",
  },
  json: "{ok, project, findings: [{part, level, text, remedy?}]}: level is ok, warn or fail.",
  async run(call) {
    const { cwd, env } = call.io;
    const paths = projectPaths(cwd, env);
    const trial = call.options["try-resume"];
    const place = { paths, cwd, env, installed: findInstalled(), now: new Date() };
    const findings =
      trial === undefined ? await runDoctor({ ...place, clients: CLIENTS, guardCount }) : await tryClient(call, trial);
    return report(call.io, paths.root, findings);
  },
});

/** Announces that the trial calls a model before it begins. */
async function tryClient(call: Call, name: string): Promise<Finding[]> {
  const { io } = call;
  const { title, requests, clients } = resumableClient(name, io.env);
  sayNote(io, `this starts ${title} headless, in a folder of its own: about ${requests} short requests to your model`);
  const findings: Finding[] = [];
  const { store } = await openArtifacts(call, "save");
  for (const client of clients) {
    const check = await tryResume(client, { store, env: io.env, now: new Date() });
    // A user who asks for the trial wants the details; in the whole check it is one line among others.
    findings.push({ ...describeCheck(check), ...(!check.isOk && { level: "fail" as const }) });
  }
  return findings;
}

function report(io: Io, project: string, findings: readonly Finding[]): Output {
  const partsWith = (level: Finding["level"]) => findings.filter((one) => one.level === level).map(({ part }) => part);
  const [failed, warned] = [partsWith("fail"), partsWith("warn")];
  const named = (parts: readonly string[]) => `(${[...new Set(parts)].join(", ")})`;
  const looks = `${counted(warned.length, "warning")} ${named(warned)}`;
  const verdict =
    failed.length > 0
      ? `Not working: ${failed.length} of ${findings.length} checks failed ${named(failed)}${warned.length > 0 ? `, ${looks}` : ""}.`
      : warned.length > 0
        ? `Works, with ${looks}: ${findings.length} checks, none failed.`
        : `All is well: ${findings.length} checks passed.`;
  const head = `Project: ${describeCheckout(checkoutOf(io.cwd))}`;
  return {
    data: { ok: failed.length === 0, project, findings },
    text: () => [head, "", ...findings.flatMap((finding) => lines(io, finding)), "", verdict].join("\n"),
    code: failed.length === 0 ? 0 : 1,
  };
}

function lines(io: Io, { part, level, text, remedy }: Finding): string[] {
  const [style, mark] = MARKS[level];
  const wrapped = (line: string) => wrapText(line, io.width === undefined ? undefined : io.width - INDENT.length);
  const [first, ...rest] = wrapped(`${part}: ${text}`);
  const [advice, ...more] = remedy && level !== "ok" ? wrapped(`→ ${remedy}`) : [];
  return [
    `${paint(io, style, mark)}  ${first}`,
    ...[...rest, ...(advice === undefined ? [] : [paint(io, "bold", advice)]), ...more.map((line) => `  ${line}`)].map(
      (line) => `${INDENT}${line}`,
    ),
  ];
}

const MARKS = { ok: ["green", "ok  "], warn: ["yellow", "warn"], fail: ["red", "FAIL"] } as const;
const INDENT = " ".repeat("FAIL  ".length);
