import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { appendLog, type LogLevel } from "../../base/log.ts";
import { checkTrust } from "../../base/project-trust.ts";
import { isServerWired } from "../../clients/claude-code/wired-server.ts";
import { hookServer } from "../../clients/hook-server.ts";
import { LiveSkills } from "../../engine/live-skills.ts";
import { KeptProject } from "../../engine/open-project.ts";
import { type Environment, offReason, projectPaths } from "../../engine/project.ts";
import { LiveWork } from "../../engine/work/live-work.ts";
import { serveMcp } from "../../mcp/server.ts";
import { type ToolSet, toolsOf } from "../../mcp/tools.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { findInstalled } from "../installed.ts";

export const spec: CommandSpec = {
  about:
    "Serves a coding client over MCP on standard input and output, until the input ends. Clients start it themselves once `haversack init` has wired it. The project is CLAUDE_PROJECT_DIR, else the working folder.",
  options: {
    tools: {
      type: "string",
      value: "SET",
      choices: ["default", "all"],
      about: "The tools to offer: default, or all; every one costs tokens where clients load them up front.",
    },
    plugin: {
      type: "boolean",
      about: "Started by the Claude Code plugin: list no tools where `haversack init` has wired this project already.",
    },
    "serve-skills": {
      type: "boolean",
      about: "Serve the skills through MCP's skills extension too; a client that knows it may list them all.",
    },
  },
  examples: [
    { run: "haversack mcp", says: "for a client's settings" },
    { run: "haversack mcp --tools all", says: "with every tool" },
  ],
};

export async function run(call: Call): Promise<ExitCode> {
  const { io, options } = call;
  const cwd = projectFolder(io.env, io.cwd);
  const paths = () => projectPaths(cwd, io.env);
  const log = (level: LogLevel, text: string) => {
    const { state, log: folder, userState } = paths();
    // A project that does not use Haversack gets no folder from us, and nothing is written into what came with a clone.
    if (existsSync(state) && checkTrust(state, userState).kind !== "untrusted")
      appendLog(folder, { at: new Date(), level, part: "mcp", text });
  };
  if (process.stdin.isTTY) io.err("haversack mcp: waiting for an MCP client on standard input; Ctrl-D ends it\n");
  const project = new KeptProject({ cwd, env: io.env });
  const skills = new LiveSkills({ project, log });
  const work = new LiveWork(project);
  let hooks: ReturnType<typeof hookServer> | undefined;
  const isPackaged = options["plugin"] === true;
  const standsBack = isPackaged && isServerWired(cwd, io.env);
  await serveMcp(
    {
      skills,
      work,
      env: io.env,
      hook: (input, meta) => (hooks ??= hookServer({ env: io.env, cwd, cli: ownProgram(), isPackaged }))(input, meta),
      offReason: () => offReason(paths(), io.env),
      log,
    },
    {
      version: __VERSION__,
      tools: standsBack ? [] : toolsOf((options["tools"] as ToolSet | undefined) ?? "default"),
      serveSkills: options["serve-skills"] === true,
    },
  );
  project.close();
  return 0;
}

/** For what a hook leaves to another process. */
function ownProgram(): string[] {
  const { node, bin } = findInstalled();
  return [node, bin];
}

/** The client may start a server from another folder than the project's. */
function projectFolder(env: Environment, cwd: string): string {
  const named = env["CLAUDE_PROJECT_DIR"];
  return named && isAbsolute(named) && existsSync(named) ? named : cwd;
}
