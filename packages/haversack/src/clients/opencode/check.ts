/** What `doctor` looks at in opencode: version, the plugin's file, what it names, the MCP server, ripgrep. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { readText } from "../../engine/init.ts";
import { tryMcpServer, tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { serverCommand } from "../claude-code/server-guard.ts";
import { stateOfStamped } from "../gemini/stamped-file.ts";
import { findOpencodeProgram, opencodePlaces, TESTED_VERSION } from "./detect.ts";
import { bundleNamedIn, pluginFileText } from "./plugin-file.ts";

const NAME = "opencode";

export async function checkOpencode(place: CheckPlace): Promise<Finding[]> {
  return [await checkVersion(place), ...checkPluginFiles(place), await checkServer(place), ...checkRipgrep(place)];
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = `${NAME} version`;
  const program = findOpencodeProgram(env);
  if (!program) return { part, level: "ok", text: `no opencode on the PATH to ask; tested with ${TESTED_VERSION}` };
  const quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env: { ...env, ...quiet }, limitMs: 20_000 });
  const version = /^\d+\.\d+\.\d+/m.exec(stdout)?.[0];
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  const text = `${version}; tested with ${TESTED_VERSION}`;
  const isTested = version.split(".").slice(0, 2).join(".") === TESTED_VERSION.split(".").slice(0, 2).join(".");
  if (isTested) return { part, level: "ok", text };
  return { part, level: "warn", text, remedy: "look for a haversack that was tested with it: hooks may differ" };
}

function checkPluginFiles({ cwd, env, installed }: CheckPlace): Finding[] {
  const part = `${NAME} plugin`;
  const { projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  const text = pluginFileText(installed);
  const found = [projectPlugin, userPlugin].filter((path) => existsSync(path));
  if (found.length === 0) {
    const remedy = "`haversack init --client opencode` writes it";
    return [{ part, level: "fail", text: "not wired: there is no plugin file of Haversack", remedy }];
  }
  const findings = found.map((path): Finding => {
    const remedy = `\`haversack init --client opencode${path === userPlugin ? " --user" : ""}\` writes it anew`;
    const bundle = bundleNamedIn(readText(path) ?? "");
    if (bundle !== undefined && !existsSync(bundle)) {
      return { part, level: "fail", text: `${path} names ${bundle}, which is gone: it does nothing`, remedy };
    }
    const state = stateOfStamped({ path, about: "", text });
    if (state === "current") return { part, level: "ok", text: path };
    if (state === "older") return { part, level: "warn", text: `${path} names another installation`, remedy };
    return { part, level: "warn", text: `${path} was changed by hand or is not Haversack's`, remedy: "look at it" };
  });
  if (found.length === 1) return findings;
  const remedy = "`haversack uninstall` here, or for the user";
  return [...findings, { part, level: "warn", text: "wired twice, for the project and for the user", remedy }];
}

async function checkServer({ env, scratch, installed, isOff }: CheckPlace): Promise<Finding> {
  const part = `${NAME} MCP server`;
  if (!scratch) return { part, level: "ok", text: "not started: there is no sound store to try it with" };
  const { command, args } = serverCommand(installed);
  const options = { cwd: scratch.root, env: { ...env, HAVERSACK: undefined, HAVERSACK_DOCTOR: "1", OPENCODE: "1" } };
  const answer = await tryMcpServer(command, args, { ...options, limitMs: 15_000 });
  const remedy = `run \`${installed.node} ${installed.bin} mcp\` by hand and see what it prints`;
  if ("problem" in answer) return { part, level: "fail", text: `does not start: ${answer.problem}`, remedy };
  if (!answer.tools.includes("skill") && !isOff)
    return { part, level: "fail", text: 'starts without the tool "skill"', remedy };
  return { part, level: "ok", text: `starts in ${answer.tookMs} ms with ${answer.tools.length} tools` };
}

/** Without it the client lists no skills of its own. */
function checkRipgrep({ env }: CheckPlace): Finding[] {
  const folders = (env["PATH"] ?? "").split(delimiter);
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "rg")))) return [];
  const text =
    "no rg on the PATH: opencode downloads it at its first search, and finds no skills of its own without it";
  return [{ part: `${NAME} ripgrep`, level: "warn", text, remedy: "install ripgrep" }];
}
