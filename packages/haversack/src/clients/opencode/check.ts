/** `doctor` checks for opencode: version, the plugin's file and what it names, the MCP server, ripgrep. */
import { existsSync } from "node:fs";
import { readText } from "../../engine/init.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { checkServer, findings, initCommand, notWired } from "../check-client.ts";
import { checkVersion, findOnPath } from "../client-program.ts";
import { serverCommand } from "../server-guard.ts";
import { stateOfStamped } from "../stamped-file.ts";
import { bundleNamedIn, isPackageNamed, opencodePlaces, pluginFileText } from "./places.ts";

const NAME = "opencode";

const CLIENT = { name: NAME, variables: () => ({ OPENCODE: "1" }) } as const;

export async function checkOpencode(place: CheckPlace): Promise<Finding[]> {
  const version = await checkVersion(NAME, place);
  const plugin = checkPluginFiles(place);
  if (plugin.some(({ isSilencing, level }) => isSilencing && level === "ok")) return [version, ...plugin];
  const server = await checkServer(CLIENT, serverCommand(place.installed), place);
  return [version, ...plugin, server, ...checkRipgrep(place)];
}

function checkPluginFiles(place: CheckPlace): Finding[] {
  const { cwd, env, installed, wasWired } = place;
  const part = `${NAME} plugin`;
  const { ok, warn, fail } = findings(part);
  const { root, projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  const text = pluginFileText(installed);
  const found = [projectPlugin, userPlugin].filter((path) => existsSync(path));
  const isPackaged = isPackageNamed({ root, env });
  if (found.length === 0 && isPackaged) return [ok("the package that opencode.json names")];
  if (found.length === 0) {
    const what = "there is no plugin file of Haversack";
    return [notWired(part, { what, remedy: `\`${initCommand(place, NAME)}\` wires it`, wasWired })];
  }
  const states = found.map((path): Finding => {
    const remedy = `\`haversack init --client opencode${path === userPlugin ? " --user" : ""}\` writes it again`;
    const bundle = bundleNamedIn(readText(path) ?? "");
    if (bundle !== undefined && !existsSync(bundle)) {
      return fail(`${path} names ${bundle}, which is gone: it does nothing`, remedy);
    }
    const state = stateOfStamped({ path, about: "", text });
    if (state === "current") return ok(path);
    if (state === "older") return warn(`${path} names another installation`, remedy);
    return warn(`${path} was changed by hand or is not Haversack's`, "look at it");
  });
  const others = [...(found.length > 1 ? [userPlugin] : []), ...(isPackaged ? ["the package in opencode.json"] : [])];
  return others.length === 0 ? states : [...states, ok(`${others.join(" and ")} are inactive beside ${found[0]}`)];
}

/** Without ripgrep the client lists none of its own skills. */
function checkRipgrep({ env }: CheckPlace): Finding[] {
  if (findOnPath("rg", env)) return [];
  const text =
    "no rg on the PATH: opencode downloads it at its first search, and finds no skills of its own without it";
  return [findings(`${NAME} ripgrep`).warn(text, "install ripgrep")];
}
