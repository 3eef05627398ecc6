/** Codex as `init` and `uninstall` see it. */
import { basename, dirname, join } from "node:path";
import { readText } from "../../engine/init.ts";
import type { Client, Deferral, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import type { SkillCard } from "../../skills/types.ts";
import { canAskServer, whyNoServerHooks } from "../client-program.ts";
import { excludeLines, gitView, untracked } from "../git-view.ts";
import { mergeHooks, unmergeHooks } from "../hook-settings.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, wireStamped } from "../stamped-file.ts";
import { codexWorkFiles } from "../work-files.ts";
import { checkCodex } from "./check.ts";
import {
  disableSkills,
  enableSkills,
  mergeNotify,
  mergeServer,
  notifyOf,
  notifyProgram,
  serverTable,
  unmergeNotify,
  unmergeServer,
} from "./config.ts";
import { CODEX_HOOKS } from "./hooks-file.ts";
import { type CodexPlaces, codexPlaces, findCodex, readCodexPlugin } from "./places.ts";

export const codex: Client = {
  name: "codex",
  title: "Codex",
  find: ({ cwd, env }) => findCodex(cwd, env),
  files(place) {
    const { root, projectHooks, projectConfig, userHooks, userConfig } = codexPlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      untracked(hooksFile(isUser ? userHooks : projectHooks, place), place, root),
      untracked(serverFile(isUser ? userConfig : projectConfig, place), place, root),
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
      "Codex silently skips hooks until you have reviewed them: start `codex` here, open /hooks and trust those of Haversack (again after each change of them)",
    ];
    const config = place.hooks === "command" ? undefined : switchedOffIn(place);
    const off = config && `the MCP server is switched off in ${config}`;
    const why = whyNoServerHooks("codex", place) ?? off;
    if (why) notes.push(`${why}: each event starts a process`);
    if (readCodexPlugin(places)) {
      notes.push(
        "the haversack plugin of Codex is installed too: it becomes inactive once you have trusted these hooks",
      );
    }
    if (scope === "user" && notifyOf(readText(userConfig) ?? "").kind === "foreign") {
      notes.push(
        `notify in ${userConfig} is yours and stays; to have doctor see whether hooks run, let your program end with \`${node} ${notifyProgram(hook)} JSON\`, where JSON is its own last word`,
      );
    }
    if (scope === "project") {
      notes.push(`Codex reads ${join(root, ".codex")} only when you trust this folder: it asks when you start it here`);
      if (gitView(root, projectHooks) === "no-git") {
        notes.push(
          `git could not be asked whether it ignores ${join(root, ".codex")}: do not commit files with paths of this machine`,
        );
      }
    }
    return [...notes, ...notesOnStamped(workSkill(place))];
  },
  leftovers: (place) => leftoversOfStamped(workSkill(place)),
  check: checkCodex,
  isPackaged: ({ cwd, env }) => readCodexPlugin(codexPlaces(cwd, env)) !== undefined,
  deferral: ({ cwd, env }) => deferral(codexPlaces(cwd, env)),
};

/** The skill `$work` and its roles. */
function workSkill({ scope, cwd, env }: Pick<WiringPlace, "scope" | "cwd" | "env">): StampedFile[] {
  const { root, codexHome } = codexPlaces(cwd, env);
  const folder = scope === "user" ? codexHome : join(root, ".codex");
  return codexWorkFiles("$work").map(({ path, text }) => ({
    path: join(folder, path),
    about: "the skill $work",
    text,
  }));
}

/** The config file in which the MCP server of this scope is switched off, if it is. */
function switchedOffIn({ scope, cwd, env }: WiringPlace): string | undefined {
  const { projectConfig, userConfig } = codexPlaces(cwd, env);
  const config = scope === "user" ? userConfig : projectConfig;
  return serverTable(readText(config) ?? "").isEnabled ? undefined : config;
}

function hooksFile(path: string, place: WiringPlace): WiredFile {
  const { installed, hasGuards, seesOutputs = false } = place;
  return {
    path,
    about: "hooks",
    blank: "{}\n",
    wire: (text) => {
      const canAsk = place.hooks !== "command" && canAskServer("codex", place.env);
      const asksServer = canAsk && !switchedOffIn(place);
      return mergeHooks(CODEX_HOOKS, text, { ...installed, file: path, hasGuards, seesOutputs, asksServer });
    },
    unwire: (text, keep) => unmergeHooks(CODEX_HOOKS, text, { file: path, keep }),
  };
}

function serverFile(path: string, { installed: { node, hook, bin }, scope }: WiringPlace): WiredFile {
  const program = notifyProgram(hook);
  return {
    path,
    about: scope === "user" ? "the MCP server and notify" : "the MCP server",
    blank: "",
    // The file holds the user's own settings, sometimes keys.
    isPrivate: scope === "user",
    wire: (text) => {
      const merged = mergeServer(text, { file: path, node, bin });
      return scope === "user" ? { ...merged, text: mergeNotify(merged.text, { node, program }) } : merged;
    },
    unwire: (text, keep) => unmergeServer(unmergeNotify(text), { keep }),
  };
}

/** The first two contain paths of this machine; the skill is generated by us. */
const EXCLUDED = {
  "/.codex/hooks.json": ".codex/hooks.json",
  "/.codex/config.toml": ".codex/config.toml",
  "/.codex/skills/work/": ".codex/skills/work/SKILL.md",
};

/** Which skills can be kept out of the listing, and where. */
function deferral({ userConfig: path }: CodexPlaces): Deferral {
  return {
    path,
    blank: "",
    isPrivate: true,
    isReadByFile: true,
    noNames: "Codex cannot list a skill's name without its description",
    keyOf,
    nameOf: (key) => basename(dirname(key)),
    set: (text, keys, _, own) => disableSkills(text, keys, { file: path, own }),
    drop: (text, own, keep) => enableSkills(text, own, { keep }),
  };
}

/** The setting is in the user's file and applies to all projects, so it only hides skills of this project. */
function keyOf(card: SkillCard): { key: string } | { why: string } {
  const { sourceKind, sourceLabel, folder, path } = card;
  if (!folder || !LISTED.test(sourceLabel)) return { why: "Codex does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  if (sourceKind !== "project") {
    return { why: "it is a skill for all your projects, and Codex has no setting that hides it in one" };
  }
  return { key: path };
}

const LISTED = /(?:^|\/)\.(?:agents|codex)\/skills$/;
