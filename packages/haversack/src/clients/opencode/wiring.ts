/** opencode as `init`, `doctor` and `uninstall` see it: one file, the plugin. The plugin adds the MCP server, `/work` and its agents in memory. */
import { existsSync } from "node:fs";
import { readText } from "../../engine/init.ts";
import type { CheckPlace, Client, Finding, WiringPlace } from "../../engine/wiring.ts";
import { checkServer, findings, initCommand, notWired } from "../check-client.ts";
import { checkVersion, findOnPath } from "../client-program.ts";
import { excludeLines, untracked } from "../git-view.ts";
import { serverCommand } from "../server-entry.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, stateOfStamped, wireStamped } from "../stamped-file.ts";
import { addDeferred, BLANK, deferredFile, dropDeferred } from "./own-config.ts";
import { bundleNamedIn, findOpencode, isPackageNamed, opencodePlaces, pluginFileText } from "./places.ts";
import { opencodeProfile } from "./profile.ts";

export const opencode: Client = {
  name: "opencode",
  title: "opencode",
  find: ({ cwd, env }) => findOpencode(cwd, env),
  files(place) {
    const { root } = opencodePlaces(place.cwd, place.env);
    const file = untracked(wireStamped(ownPlugin(place)), place, root);
    if (place.scope === "user") return [file];
    return [file, ...excludeLines(root, { "/.opencode/plugin/haversack.js": ".opencode/plugin/haversack.js" })];
  },
  notes: (place) => [
    ...(hasPackage(place) ? ["opencode.json names the haversack package too: it is inactive beside this file"] : []),
    ...notesOnStamped([ownPlugin(place)]),
  ],
  leftovers: (place) => leftoversOfStamped([ownPlugin(place)]),
  check: checkOpencode,
  isPackaged: hasPackage,
  deferral({ cwd, env }) {
    const path = deferredFile(opencodePlaces(cwd, env).project);
    const { ownTool } = opencodeProfile();
    return {
      path,
      blank: BLANK,
      noNames: "opencode cannot list a skill's name without its description",
      keyOf: (card) => (ownTool?.sees(card) ? { key: card.name } : { why: "opencode does not list it anyway" }),
      set: (text, keys) => addDeferred(text, keys, path),
      drop: (text, own) => dropDeferred(text, own, path),
    };
  },
};

function hasPackage({ cwd, env }: Pick<WiringPlace, "cwd" | "env">): boolean {
  return isPackageNamed({ root: opencodePlaces(cwd, env).root, env });
}

function ownPlugin({ scope, cwd, env, installed }: WiringPlace): StampedFile {
  const { projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  return {
    path: scope === "user" ? userPlugin : projectPlugin,
    about: "the plugin, which brings the MCP server, /work and its agents",
    text: pluginFileText(installed),
  };
}

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
