/** Wires Claude Code for `init` and unwires it for `uninstall`. */
import { basename, join } from "node:path";
import { readJson } from "../../base/json.ts";
import { readText } from "../../engine/init.ts";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/showing/activation.ts";
import type { SkillCard } from "../../skills/types.ts";
import { canAskServer, whyNoServerHooks } from "../client-program.ts";
import { FACTS } from "../facts.ts";
import { excludeLines, gitView, untracked } from "../git-view.ts";
import { mergeServerEntry, unmergeServerEntry } from "../server-entry.ts";
import { leftoversOfStamped, notesOnStamped, wireStamped } from "../stamped-file.ts";
import { checkClaude } from "./check.ts";
import { claudePlaces, claudeWork, findClaude, isPluginEnabled } from "./places.ts";
import {
  claudeServer,
  dropOverrides,
  mergeSettings,
  modeOfOverride,
  setOverrides,
  unmergeSettings,
} from "./settings.ts";

export const claudeCode: Client = {
  name: "claude-code",
  title: FACTS["claude-code"].title,
  find: ({ cwd, env }) => findClaude(cwd, env),
  files(place) {
    const { localSettings, userSettings, state, root } = claudePlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      untracked(settingsFile(isUser ? userSettings : localSettings, place), place, root),
      serverFile(state, isUser ? undefined : root, place),
      ...claudeWork(workFolder(place)).map(wireStamped),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
  },
  notes(place) {
    const { scope, cwd, env } = place;
    const { localSettings, root } = claudePlaces(cwd, env);
    const notes: string[] = [];
    const why = whyNoServerHooks("claude-code", place);
    if (why) notes.push(`${why}: each event starts a process`);
    if (hasPlugin(place)) notes.push(PLUGIN_NOTE);
    if (scope === "project" && gitView(root, localSettings) === "no-git") {
      notes.push(
        `git could not be asked whether it ignores ${localSettings}: do not commit it, it contains paths of this machine`,
      );
    }
    return [...notes, ...notesOnStamped(claudeWork(workFolder(place)))];
  },
  leftovers: (place) => leftoversOfStamped(claudeWork(workFolder(place))),
  check: checkClaude,
  isPackaged: hasPlugin,
  deferral({ cwd, env }) {
    const { localSettings: path } = claudePlaces(cwd, env);
    return {
      path,
      blank: "{}\n",
      keyOf: deferKey,
      modeOf: modeOfOverride,
      set: (text, keys, mode, own) => setOverrides(text, keys, { file: path, mode, own }),
      drop: (text, own, keep) => dropOverrides(text, own, { file: path, keep }),
    };
  },
};

function hasPlugin({ cwd, env }: Pick<WiringPlace, "cwd" | "env">): boolean {
  const { localSettings, projectSettings, userSettings } = claudePlaces(cwd, env);
  const files = [localSettings, projectSettings, userSettings];
  return isPluginEnabled(files.map((path) => readJson(readText(path) ?? "{}").value));
}

const PLUGIN_NOTE =
  "the haversack plugin is enabled too: it is inactive where init has connected the client, and /haversack:work is there beside /work";

/** The folder for commands and agents of this scope. */
function workFolder({ scope, cwd, env }: WiringPlace): string {
  const { root, configDir } = claudePlaces(cwd, env);
  return scope === "user" ? configDir : join(root, ".claude");
}

function deferKey(card: SkillCard): { key: string } | { why: string } {
  if (card.sourceKind === "plugin") return { why: "Claude Code lets no setting hide a plugin's skill" };
  if (!card.folder || !profileOf("claude-code").ownTool?.sees(card))
    return { why: "Claude Code does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  return { key: basename(card.folder) };
}

function settingsFile(path: string, place: WiringPlace): WiredFile {
  const { installed, hasGuards, seesOutputs = false, hooks, env } = place;
  const asksServer = hooks !== "command" && canAskServer("claude-code", env);
  return {
    path,
    about: "hooks, and the permission to call our tools",
    blank: "{}\n",
    wire: (text) => mergeSettings(text, { ...installed, file: path, hasGuards, seesOutputs, asksServer }),
    unwire: (text, keep) => unmergeSettings(text, { file: path, keep }),
  };
}

function serverFile(path: string, root: string | undefined, { installed: { node, bin } }: WiringPlace): WiredFile {
  return {
    path,
    about: "the MCP server",
    blank: "{}\n",
    lock: `${path}.lock`,
    isPrivate: true,
    wire: (text) => {
      const entry = { defaults: { type: "stdio" }, shownBy: "claude mcp get haversack", node, bin };
      return mergeServerEntry(text, claudeServer(path, root), entry);
    },
    unwire: (text, keep) => unmergeServerEntry(text, claudeServer(path, root), keep),
  };
}

/**
 * The settings contain paths of this machine. The `/work` files do not, and can be added to the repository with `git add --force`, but
 * `init` leaves no file that the next commit would include.
 */
const EXCLUDED: Readonly<Record<string, string>> = {
  "/.claude/settings.local.json": ".claude/settings.local.json",
  "/.claude/commands/work.md": ".claude/commands/work.md",
  "/.claude/agents/haversack-*.md": ".claude/agents/haversack-implementer.md",
};
