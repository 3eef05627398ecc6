import { CLIENTS } from "../../clients/table.ts";
import { runDoctor } from "../../engine/doctor.ts";
import { projectPaths } from "../../engine/project.ts";
import type { Finding } from "../../engine/wiring.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { guardCount } from "../guards.ts";
import { findInstalled } from "../installed.ts";
import { paint } from "../terminal.ts";

export const spec: CommandSpec = {
  about:
    "Checks everything from the runtime to the client: store, settings, index, hooks (with a test event through each), the MCP server, and the client's own listing. Changes nothing. Exit 1 when something has failed; warnings alone leave 0.",
  examples: [
    { run: "haversack doctor", says: "what is wrong, and what to do about it" },
    { run: "haversack doctor --json", says: "the same for a script" },
  ],
  json: "{ok, project, findings: [{part, level, text, remedy?}]}: level is ok, warn or fail.",
};

export async function run(call: Call): Promise<ExitCode> {
  const { cwd, env } = call.io;
  const paths = projectPaths(cwd, env);
  const findings = await runDoctor({
    paths,
    cwd,
    env,
    installed: findInstalled(),
    now: new Date(),
    clients: CLIENTS,
    guardCount,
  });
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const failed = count("fail");
  print(call, { ok: failed === 0, project: paths.root, findings }, () => {
    const warned = count("warn");
    const verdict =
      failed > 0
        ? `${failed} failed${warned > 0 ? `, ${warned} to look at` : ""}.`
        : warned > 0
          ? `Nothing failed; ${warned} to look at.`
          : "All is well.";
    return [`Project: ${paths.root}`, "", ...findings.flatMap((finding) => lines(call.io, finding)), "", verdict].join(
      "\n",
    );
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
  return [
    `${mark}  ${part}: ${text}`,
    ...(remedy && level !== "ok" ? [`      ${paint(io, "bold", "→")} ${remedy}`] : []),
  ];
}
