/** What `doctor` looks at in opencode: version, the plugin's file, what it names, the MCP server, ripgrep. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { readText } from "../../engine/init.ts";
import { tryProgram } from "../../engine/try-process.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { checkServer } from "../check-running.ts";
import { serverCommand } from "../claude-code/server-guard.ts";
import { judgeVersion } from "../client-version.ts";
import { findOnPath } from "../find-program.ts";
import { stateOfStamped } from "../gemini/stamped-file.ts";
import { notWired } from "../not-wired.ts";
import { opencodePlaces, TESTED_VERSION } from "./detect.ts";
import { bundleNamedIn, pluginFileText } from "./plugin-file.ts";
import { isPackageNamed } from "./which-plugin.ts";

const NAME = "opencode";

const CLIENT = { name: NAME, variables: () => ({ OPENCODE: "1" }) };

export async function checkOpencode(place: CheckPlace): Promise<Finding[]> {
  const version = await checkVersion(place);
  const plugin = checkPluginFiles(place);
  if (plugin.some(({ isSilencing, level }) => isSilencing && level === "ok")) return [version, ...plugin];
  const server = await checkServer(CLIENT, serverCommand(place.installed), place);
  return [version, ...plugin, server, ...checkRipgrep(place)];
}

async function checkVersion({ env, cwd }: CheckPlace): Promise<Finding> {
  const part = `${NAME} version`;
  const program = findOnPath("opencode", env);
  if (!program) return { part, level: "ok", text: `no opencode on the PATH to ask; tested with ${TESTED_VERSION}` };
  const quiet = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  const { stdout } = await tryProgram(program, ["--version"], { cwd, env: { ...env, ...quiet }, limitMs: 20_000 });
  const version = /^\d+\.\d+\.\d+/m.exec(stdout)?.[0];
  if (!version) {
    return { part, level: "warn", text: `${program} --version says no version`, remedy: "run it by hand and see why" };
  }
  return judgeVersion(part, version, { title: "opencode", tested: TESTED_VERSION, upTo: "minor" });
}

function checkPluginFiles({ cwd, env, installed, wasWired }: CheckPlace): Finding[] {
  const part = `${NAME} plugin`;
  const { root, projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  const text = pluginFileText(installed);
  const found = [projectPlugin, userPlugin].filter((path) => existsSync(path));
  const isPackaged = isPackageNamed({ root, env });
  if (found.length === 0 && isPackaged) return [{ part, level: "ok", text: "the package that opencode.json names" }];
  if (found.length === 0) {
    const what = "there is no plugin file of Haversack";
    return [notWired(part, { what, remedy: "`haversack init --client opencode` wires it", wasWired })];
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
  const others = [...(found.length > 1 ? [userPlugin] : []), ...(isPackaged ? ["the package in opencode.json"] : [])];
  if (others.length === 0) return findings;
  return [...findings, { part, level: "ok", text: `${others.join(" and ")} stand back for ${found[0]}` }];
}

/** Without it the client lists no skills of its own. */
function checkRipgrep({ env }: CheckPlace): Finding[] {
  const folders = (env["PATH"] ?? "").split(delimiter);
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "rg")))) return [];
  const text =
    "no rg on the PATH: opencode downloads it at its first search, and finds no skills of its own without it";
  return [{ part: `${NAME} ripgrep`, level: "warn", text, remedy: "install ripgrep" }];
}
