/** opencode as `init` and `uninstall` see it: one file, the plugin. MCP server, `/work` and its agents come with it, in memory. */
import { HaversackError } from "../../base/errors.ts";
import type { Client, WiringPlace } from "../../engine/wiring.ts";
import { excludeLines } from "../exclude-lines.ts";
import { notesOnStamped, type StampedFile, stateOfStamped, wireStamped } from "../gemini/stamped-file.ts";
import { gitView } from "../git-view.ts";
import { checkOpencode } from "./check.ts";
import { addDeferred, BLANK, deferredFile, dropDeferred } from "./deferred-skills.ts";
import { findOpencode, opencodePlaces } from "./detect.ts";
import { opencodeFill } from "./fill.ts";
import { pluginFileText } from "./plugin-file.ts";
import { opencodeProfile } from "./profile.ts";
import { isPackageNamed } from "./which-plugin.ts";

export const opencode: Client = {
  name: "opencode",
  title: "opencode",
  find: ({ cwd, env }) => findOpencode(cwd, env),
  files(place) {
    const { root } = opencodePlaces(place.cwd, place.env);
    const file = wireStamped(ownPlugin(place));
    if (place.scope === "user") return [file];
    const refusing = {
      ...file,
      wire: (text: string) => {
        refuseTracked(file.path, root);
        return file.wire(text);
      },
    };
    return [refusing, ...excludeLines(root, { "/.opencode/plugin/haversack.js": ".opencode/plugin/haversack.js" })];
  },
  notes: (place) => [
    ...(hasPackage(place) ? ["opencode.json names the haversack package too: it stands back for this file"] : []),
    ...notesOnStamped([ownPlugin(place)]),
  ],
  leftovers: (place) =>
    stateOfStamped(ownPlugin(place)) === "edited" ? [`${ownPlugin(place).path} was changed by hand and stays`] : [],
  check: checkOpencode,
  fill: opencodeFill,
  isPackaged: hasPackage,
  deferral({ cwd, env }) {
    const path = deferredFile(opencodePlaces(cwd, env).root);
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

/** In project scope, or the user's. */
export function ownPlugin({ scope, cwd, env, installed }: WiringPlace): StampedFile {
  const { projectPlugin, userPlugin } = opencodePlaces(cwd, env);
  return {
    path: scope === "user" ? userPlugin : projectPlugin,
    about: "the plugin, which brings the MCP server, /work and its agents",
    text: pluginFileText(installed),
  };
}

function refuseTracked(path: string, root: string): void {
  if (gitView(root, path) !== "tracked") return;
  throw new HaversackError(
    "input-invalid",
    `${path} is committed in this repository; paths of this machine do not belong in it`,
    {
      hint: "take it out of git (`git rm --cached` keeps the file), or wire all projects with `haversack init --user`",
    },
  );
}
