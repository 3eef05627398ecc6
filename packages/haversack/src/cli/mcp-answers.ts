/** What `haversack mcp` answers for the project in which it was started. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { makeCompiledFolder } from "../base/compiled-folder.ts";
import { appendLog, type LogLevel } from "../base/log.ts";
import { checkTrust } from "../base/project-trust.ts";
import { isServerWired } from "../clients/claude-code/places.ts";
import { hookServer } from "../clients/hook-server.ts";
import { LiveSkills } from "../engine/live-skills.ts";
import { KeptProject } from "../engine/open-project.ts";
import { type Environment, loadConfig, offReason, projectPaths } from "../engine/project.ts";
import { LiveWork } from "../engine/work/live-work.ts";
import type { Answers } from "../mcp/serve.ts";
import { makeAnswers, type ServerParts } from "../mcp/server.ts";
import type { Tool } from "../mcp/tool.ts";
import { isOffered, type ToolSet, toolsOf } from "../mcp/tools.ts";
import type { Call } from "./command.ts";
import { findInstalled } from "./installed.ts";

// For `haversack replay`: the code that answers events is large, and this file has it already.
export { answerHook } from "../clients/answer-hook.ts";
export { keptOpen } from "../engine/events/event-project.ts";

export function mcpAnswers(io: Call["io"], options: Call["options"]): Answers {
  const cwd = projectFolder(io.env, io.cwd);
  const paths = () => projectPaths(cwd, io.env);
  const log = (level: LogLevel, text: string) => {
    const { state, log: folder, userState } = paths();
    // Do not create a folder in a project that does not use Haversack, nor write into one that came with a clone.
    if (existsSync(state) && checkTrust(state, userState).kind !== "untrusted")
      appendLog(folder, { at: new Date(), level, part: "mcp", text });
  };
  const project = new KeptProject({ cwd, env: io.env });
  const skills = new LiveSkills({ project, log, indexElsewhere: (root) => indexElsewhere(root, io.env) });
  const work = new LiveWork(project, (text) => log("warn", text));
  work.keepUp();
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
  const set = (options["tools"] as ToolSet | undefined) ?? "default";
  const served = {
    version: __VERSION__,
    tools: standsBack ? [] : toolsOf(set),
    isOffered: (tool: Tool) => isOffered(tool, { isAll: set === "all", config: loadConfig(paths()).config }),
    serveSkills: options["serve-skills"] === true,
  };
  if (existsSync(paths().state)) makeCompiledFolder(io.env);
  return makeAnswers(parts, served, () => void work.close());
}

/** Indexing thousands of skills from scratch takes some 10 s on a slow machine. */
const INDEX_MS = 60_000;

function indexElsewhere(cwd: string, env: Environment): boolean {
  const [node = "", bin = ""] = ownProgram();
  const { status } = spawnSync(node, [bin, "skill", "index", "--changed", "--json"], {
    cwd,
    env: { ...env },
    stdio: "ignore",
    timeout: INDEX_MS,
  });
  return status === 0;
}

/** Starts work that a hook leaves to another process. */
function ownProgram(): string[] {
  const { node, bin } = findInstalled();
  return [node, bin];
}

/** The client may start a server in a folder outside the project. */
function projectFolder(env: Environment, cwd: string): string {
  const named = env["CLAUDE_PROJECT_DIR"];
  return named && isAbsolute(named) && existsSync(named) ? named : cwd;
}
