/** Codex as `init` and `uninstall` see it. */
import { join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { readText } from "../../engine/init.ts";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { excludeLines } from "../exclude-lines.ts";
import { notesOnStamped, type StampedFile, stateOfStamped, wireStamped } from "../gemini/stamped-file.ts";
import { gitView } from "../git-view.ts";
import { checkCodex } from "./check.ts";
import { mergeNotify, notifyOf, notifyProgram, unmergeNotify } from "./config-notify.ts";
import { mergeServer, serverTable, unmergeServer } from "./config-server.ts";
import { codexDeferral } from "./deferral.ts";
import { canAskServer, codexPlaces, findCodex } from "./detect.ts";
import { codexFill } from "./fill.ts";
import { mergeHooks, SERVER_HOOKS_SINCE, unmergeHooks } from "./hooks-file.ts";
import { readCodexPlugin } from "./plugin-wiring.ts";
import { codexWorkFiles } from "./work-files.ts";

export const codex: Client = {
  name: "codex",
  title: "Codex",
  find: ({ cwd, env }) => findCodex(cwd, env),
  files(place) {
    const { root, projectHooks, projectConfig, userHooks, userConfig } = codexPlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      hooksFile(isUser ? userHooks : projectHooks, place),
      serverFile(isUser ? userConfig : projectConfig, place),
      ...workSkill(place).map(wireStamped),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
  },
  notes(place) {
    const { scope, cwd, env, installed } = place;
    const { node, hook } = installed;
    const places = codexPlaces(cwd, env);
    const { root, projectHooks, userConfig } = places;
    const notes = [
      "Codex runs no hook before you have reviewed it, and says nothing: start `codex` here, open /hooks and trust those of Haversack (again after each change of them)",
    ];
    const why = place.hooks === "server" ? whyNoServer(place) : undefined;
    if (why) notes.push(`${why}: each event starts a process`);
    if (readCodexPlugin(places)) {
      notes.push("the haversack plugin of Codex is installed too: it stands back once you have trusted these hooks");
    }
    if (scope === "user" && notifyOf(readText(userConfig) ?? "").kind === "foreign") {
      notes.push(
        `notify in ${userConfig} is yours and stays; to have doctor see whether hooks run, let your program end with \`${node} ${notifyProgram(hook)} JSON\`, where JSON is its own last word`,
      );
    }
    if (scope === "project") {
      notes.push(`Codex reads ${join(root, ".codex")} only when you trust this folder: it asks when you start it here`);
      if (gitView(root, projectHooks) === "no-git") {
        notes.push(`git could not be asked whether it ignores ${join(root, ".codex")}: do not commit what names paths`);
      }
    }
    return [...notes, ...notesOnStamped(workSkill(place))];
  },
  leftovers: (place) =>
    workSkill(place).flatMap((file) =>
      stateOfStamped(file) === "edited" ? [`${file.path} was changed by hand and stays`] : [],
    ),
  check: checkCodex,
  fill: codexFill,
  isPackaged: ({ cwd, env }) => readCodexPlugin(codexPlaces(cwd, env)) !== undefined,
  deferral: ({ cwd, env }) => codexDeferral(codexPlaces(cwd, env)),
};

/** `$work`, and its roles. */
function workSkill({ scope, cwd, env }: Pick<WiringPlace, "scope" | "cwd" | "env">): StampedFile[] {
  const { root, codexHome } = codexPlaces(cwd, env);
  const folder = scope === "user" ? codexHome : join(root, ".codex");
  return codexWorkFiles("$work").map(({ path, text }) => ({
    path: join(folder, path),
    about: "the skill $work",
    text,
  }));
}

/** Why hooks cannot ask the running MCP server here. */
function whyNoServer({ scope, cwd, env }: WiringPlace): string | undefined {
  if (!canAskServer(env)) {
    return `hooks can ask the MCP server from Codex ${SERVER_HOOKS_SINCE} on, and not every codex that was found is known to be that new`;
  }
  const { projectConfig, userConfig } = codexPlaces(cwd, env);
  const config = scope === "user" ? userConfig : projectConfig;
  if (!serverTable(readText(config) ?? "").isEnabled) return `the MCP server is switched off in ${config}`;
  return undefined;
}

function hooksFile(path: string, place: WiringPlace): WiredFile {
  const { installed, hasGuards, scope, cwd, env } = place;
  return {
    path,
    about: "hooks",
    blank: "{}\n",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, codexPlaces(cwd, env).root);
      const asksServer = place.hooks !== "command" && whyNoServer(place) === undefined;
      return mergeHooks(text, { node: installed.node, hook: installed.hook, file: path, hasGuards, asksServer });
    },
    unwire: (text, keep) => unmergeHooks(text, { file: path, keep }),
  };
}

function serverFile(path: string, { installed: { node, hook, bin }, scope, cwd, env }: WiringPlace): WiredFile {
  const program = notifyProgram(hook);
  return {
    path,
    about: scope === "user" ? "the MCP server and notify" : "the MCP server",
    blank: "",
    // The client's own file has the person's settings, sometimes keys.
    isPrivate: scope === "user",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, codexPlaces(cwd, env).root);
      const merged = mergeServer(text, { file: path, node, bin });
      return scope === "user" ? { ...merged, text: mergeNotify(merged.text, { node, program }) } : merged;
    },
    unwire: (text, keep) => unmergeServer(unmergeNotify(text), { keep }),
  };
}

/** The first two name paths of this machine; the skill is ours. */
const EXCLUDED = {
  "/.codex/hooks.json": ".codex/hooks.json",
  "/.codex/config.toml": ".codex/config.toml",
  "/.codex/skills/work/": ".codex/skills/work/SKILL.md",
};

function refuseTracked(path: string, root: string): void {
  if (gitView(root, path) !== "tracked") return;
  throw new HaversackError(
    "input-invalid",
    `${path} is committed in this repository; paths of this machine do not belong in it`,
    {
      hint: "wire all projects with `haversack init --user`, or take it out of git (`git rm --cached` keeps the file)",
    },
  );
}
