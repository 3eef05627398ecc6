/** Claude Code as `init` and `uninstall` see it. */
import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { readText } from "../../engine/init.ts";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/activation.ts";
import type { SkillCard } from "../../skills/types.ts";
import { checkClaude } from "./check.ts";
import { claudePlaces, findClaude, gitView } from "./detect.ts";
import { isPluginEnabled } from "./plugin-wiring.ts";
import { mergeSettings, unmergeSettings } from "./settings.ts";
import { mergeServer, unmergeServer } from "./settings-mcp.ts";
import { dropOverrides, setOverrides } from "./settings-skills.ts";

export const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  find: ({ cwd, env }) => findClaude(cwd, env),
  files(place) {
    const { localSettings, userSettings, state, root } = claudePlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    return [
      settingsFile(isUser ? userSettings : localSettings, place),
      serverFile(state, isUser ? undefined : root, place),
      ...(isUser ? [] : excludeFile(root, localSettings)),
    ];
  },
  notes({ scope, cwd, env }) {
    const { localSettings, projectSettings, userSettings, root } = claudePlaces(cwd, env);
    const settings = [localSettings, projectSettings, userSettings].map(
      (path) => readJson(readText(path) ?? "{}").value,
    );
    const notes: string[] = [];
    if (isPluginEnabled(settings))
      notes.push("the haversack plugin is enabled too: with both, every event runs two processes");
    if (scope === "project" && gitView(root, localSettings).kind === "no-git") {
      notes.push(
        `git could not be asked whether it ignores ${localSettings}: do not commit it, it names paths of this machine`,
      );
    }
    return notes;
  },
  check: checkClaude,
  deferral({ cwd, env }) {
    const { localSettings: path } = claudePlaces(cwd, env);
    return {
      path,
      blank: "{}\n",
      keyOf: deferKey,
      set: (text, keys, mode, own) => setOverrides(text, keys, { file: path, mode, own }),
      drop: (text, own, keep) => dropOverrides(text, own, { file: path, keep }),
    };
  },
};

function deferKey(card: SkillCard): { key: string } | { why: string } {
  if (card.sourceKind === "plugin") return { why: "Claude Code lets no setting hide a plugin's skill" };
  if (!card.folder || !profileOf("claude-code").ownTool?.sees(card))
    return { why: "Claude Code does not list it anyway" };
  if (!card.modelInvocable) return { why: "its author keeps it out of the listing already" };
  return { key: basename(card.folder) };
}

function settingsFile(path: string, { installed, hasGuards, scope, cwd, env }: WiringPlace): WiredFile {
  return {
    path,
    about: "hooks, and the permission to call our skill tool",
    blank: "{}\n",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, claudePlaces(cwd, env).root);
      return mergeSettings(text, { ...installed, file: path, hasGuards });
    },
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
    wire: (text) => mergeServer(text, { file: path, root, node, bin }),
    unwire: (text, keep) => unmergeServer(text, { file: path, root, keep }),
  };
}

const EXCLUDED = "/.claude/settings.local.json";

/** The line that keeps the settings with machine paths out of commits, where nothing else does. */
function excludeFile(root: string, settings: string): WiredFile[] {
  const view = gitView(root, settings);
  const path = view.kind === "open" ? view.exclude : `${root}/.git/info/exclude`;
  if (view.kind === "no-repository" || view.kind === "no-git") return [];
  return [
    {
      path,
      about: "keeps these settings out of commits",
      blank: "",
      isRecordedOnly: true,
      wire: (text) => {
        const isNeeded = view.kind === "open" && !text.split("\n").includes(EXCLUDED);
        const gap = text === "" || text.endsWith("\n") ? "" : "\n";
        // Without a last line break the file is given back without one.
        return { text: isNeeded ? `${text}${gap}${EXCLUDED}\n` : text, keep: isNeeded && gap ? [NO_BREAK] : [] };
      },
      unwire: (text, keep) => {
        const at = text.split("\n").lastIndexOf(EXCLUDED);
        if (at < 0) return text;
        const rest = text.split("\n").toSpliced(at, 1).join("\n");
        return keep.includes(NO_BREAK) && at === text.split("\n").length - 2 ? rest.replace(/\n$/, "") : rest;
      },
    },
  ];
}

const NO_BREAK = "no-line-break-at-the-end";

function refuseTracked(path: string, root: string): void {
  if (gitView(root, path).kind !== "tracked") return;
  throw new HaversackError(
    "input-invalid",
    `${path} is committed in this repository; paths of this machine do not belong in it`,
    {
      hint: "take it out of git (`git rm --cached` keeps the file), or wire all projects with `haversack init --user`",
    },
  );
}
