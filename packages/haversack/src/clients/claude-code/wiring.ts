/** Claude Code as `init` and `uninstall` see it. */
import { basename, join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { readText } from "../../engine/init.ts";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { profileOf } from "../../skills/showing/activation.ts";
import type { SkillCard } from "../../skills/types.ts";
import { excludeLines } from "../exclude-lines.ts";
import { gitView } from "../git-view.ts";
import { checkClaude } from "./check.ts";
import { canAskServer, claudePlaces, findClaude } from "./detect.ts";
import { claudeFill } from "./fill.ts";
import { isPluginEnabled } from "./plugin-wiring.ts";
import { mergeSettings, SERVER_HOOKS_SINCE, unmergeSettings } from "./settings.ts";
import { mergeServer, unmergeServer } from "./settings-mcp.ts";
import { dropOverrides, modeOfOverride, setOverrides } from "./settings-skills.ts";
import { workFileStates, workWiring } from "./wire-work-files.ts";

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
      ...workWiring(workFolder(place)),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
  },
  notes(place) {
    const { scope, cwd, env } = place;
    const { localSettings, root } = claudePlaces(cwd, env);
    const notes: string[] = [];
    if (place.hooks === "server" && !asksServer(place)) notes.push(NO_SERVER_NOTE);
    if (hasPlugin(place)) notes.push(PLUGIN_NOTE);
    if (scope === "project" && gitView(root, localSettings) === "no-git") {
      notes.push(
        `git could not be asked whether it ignores ${localSettings}: do not commit it, it names paths of this machine`,
      );
    }
    for (const { path, state } of workFileStates(workFolder(place))) {
      if (state === "foreign") notes.push(`${path} is not Haversack's and stays as it is`);
      if (state === "edited") notes.push(`${path} was changed by hand and stays as it is`);
    }
    return notes;
  },
  leftovers: (place) =>
    workFileStates(workFolder(place)).flatMap(({ path, state }) =>
      state === "edited" ? [`${path} was changed by hand and stays`] : [],
    ),
  check: checkClaude,
  fill: claudeFill,
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

/** Never in a file that a client may read that cannot: see SERVER_HOOKS_SINCE. */
function asksServer({ hooks, env }: WiringPlace): boolean {
  return hooks !== "command" && canAskServer(env);
}

const NO_SERVER_NOTE = `hooks can ask the MCP server from Claude Code ${SERVER_HOOKS_SINCE} on, and not every claude that was found is known to be that new: each event starts a process`;

const PLUGIN_NOTE =
  "the haversack plugin is enabled too: it stands back where init has wired the client, and /haversack:work is there beside /work";

/** Where commands and agents of this scope are. */
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
  const { installed, hasGuards, scope, cwd, env } = place;
  return {
    path,
    about: "hooks, and the permission to call our tools",
    blank: "{}\n",
    wire: (text) => {
      if (scope === "project") refuseTracked(path, claudePlaces(cwd, env).root);
      return mergeSettings(text, { ...installed, file: path, hasGuards, asksServer: asksServer(place) });
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

/**
 * The settings name paths of this machine; the files of `/work` name none, and whoever wants them in the repository adds them
 * (`git add --force`), but `init` leaves nothing behind that the next commit would take along.
 */
const EXCLUDED: Readonly<Record<string, string>> = {
  "/.claude/settings.local.json": ".claude/settings.local.json",
  "/.claude/commands/work.md": ".claude/commands/work.md",
  "/.claude/agents/haversack-*.md": ".claude/agents/haversack-implementer.md",
};

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
