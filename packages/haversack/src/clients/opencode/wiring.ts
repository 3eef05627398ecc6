/** opencode as `init` and `uninstall` see it: one file, the plugin. The plugin adds the MCP server, `/work` and its agents in memory. */
import type { Client, WiringPlace } from "../../engine/wiring.ts";
import { excludeLines, untracked } from "../git-view.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, wireStamped } from "../stamped-file.ts";
import { checkOpencode } from "./check.ts";
import { addDeferred, BLANK, deferredFile, dropDeferred } from "./own-config.ts";
import { findOpencode, isPackageNamed, opencodePlaces, pluginFileText } from "./places.ts";
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

/** In the project or in the user's folder. */
function ownPlugin({ scope, cwd, env, installed }: WiringPlace): StampedFile {
  const { projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  return {
    path: scope === "user" ? userPlugin : projectPlugin,
    about: "the plugin, which brings the MCP server, /work and its agents",
    text: pluginFileText(installed),
  };
}
