/** What `haversack mcp` answers with, for the project that it was started in. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { appendLog, type LogLevel } from "../base/log.ts";
import { checkTrust } from "../base/project-trust.ts";
import { isServerWired } from "../clients/claude-code/wired-server.ts";
import { hookServer } from "../clients/hook-server.ts";
import { LiveSkills } from "../engine/live-skills.ts";
import { KeptProject } from "../engine/open-project.ts";
import { type Environment, offReason, projectPaths } from "../engine/project.ts";
import { LiveWork } from "../engine/work/live-work.ts";
import type { Answers } from "../mcp/serve.ts";
import { makeAnswers, type ServerParts } from "../mcp/server.ts";
import { type ToolSet, toolsOf } from "../mcp/tools.ts";
import type { Call } from "./command.ts";
import { makeCompiledFolder } from "./compiled-folder.ts";
import { findInstalled } from "./installed.ts";

export function mcpAnswers(io: Call["io"], options: Call["options"]): Answers {
  const cwd = projectFolder(io.env, io.cwd);
  const paths = () => projectPaths(cwd, io.env);
  const log = (level: LogLevel, text: string) => {
    const { state, log: folder, userState } = paths();
    // A project that does not use Haversack gets no folder from us, and nothing is written into what came with a clone.
    if (existsSync(state) && checkTrust(state, userState).kind !== "untrusted")
      appendLog(folder, { at: new Date(), level, part: "mcp", text });
  };
  const project = new KeptProject({ cwd, env: io.env });
  const skills = new LiveSkills({ project, log, indexElsewhere: (root) => indexElsewhere(root, io.env) });
  const work = new LiveWork(project);
  let hooks: ReturnType<typeof hookServer> | undefined;
  const isPackaged = options["plugin"] === true;
  const standsBack = isPackaged && isServerWired(cwd, io.env);
  const parts: ServerParts = {
    skills,
    work,
    env: io.env,
    hook: (input, meta) => (hooks ??= hookServer({ env: io.env, cwd, cli: ownProgram(), isPackaged }))(input, meta),
    offReason: () => offReason(paths(), io.env),
    log,
  };
  const served = {
    version: __VERSION__,
    tools: standsBack ? [] : toolsOf((options["tools"] as ToolSet | undefined) ?? "default"),
    serveSkills: options["serve-skills"] === true,
  };
  if (existsSync(paths().state)) makeCompiledFolder(io.env);
  return makeAnswers(parts, served, () => project.close());
}

/** A cold index of thousands of skills takes some 10 s on a slow machine. */
const INDEX_MS = 60_000;

function indexElsewhere(cwd: string, env: Environment): boolean {
  const [node = "", bin = ""] = ownProgram();
  const { status } = spawnSync(node, [bin, "skills", "index", "--changed", "--json"], {
    cwd,
    env: { ...env },
    stdio: "ignore",
    timeout: INDEX_MS,
  });
  return status === 0;
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
