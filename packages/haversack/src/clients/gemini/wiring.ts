/** Wires Gemini CLI for `init` and unwires it for `uninstall`. */
import { dirname, join } from "node:path";
import type { Client, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import { excludeLines } from "../git-view.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, wireStamped } from "../stamped-file.ts";
import { geminiWorkFiles } from "../work-files.ts";
import { geminiProfile } from "./adapter.ts";
import { checkGemini } from "./check.ts";
import { folderTrust } from "./folder-trust.ts";
import { blockedByCommit, findGemini, geminiPlaces, hasExtension, isCommitted } from "./places.ts";
import { disableSkills, enableSkills, mergeGeminiSettings, unmergeGeminiSettings } from "./settings.ts";

export const gemini: Client = {
  name: "gemini",
  title: "Gemini CLI",
  find: ({ cwd, env }) => findGemini(cwd, env),
  files(place) {
    const { projectSettings, userSettings, root } = geminiPlaces(place.cwd, place.env);
    const isUser = place.scope === "user";
    const files = [
      settingsFile(isUser ? userSettings : projectSettings, place),
      ...stampedFiles(place).map(wireStamped),
      ...(isUser ? [] : excludeLines(root, EXCLUDED)),
    ];
    // Nothing works without the settings, so nothing else is written either.
    if (isCommitted(place)) return files.map((file) => ({ ...file, wire: (text) => ({ text, keep: [] }) }));
    return files;
  },
  blocked: blockedByCommit,
  notes(place) {
    const { scope, cwd, env } = place;
    const places = geminiPlaces(cwd, env);
    const notes: string[] = [];
    if (hasExtension(places))
      notes.push("the haversack extension is installed too: it is inactive in sessions that read these settings");
    if (isCommitted(place)) return notes;
    if (scope === "project") {
      notes.push(
        `Gemini CLI reads ${places.projectSettings} only in sessions that are started in ${places.root}; \`haversack init --user\` works from every folder`,
      );
      if (folderTrust(places, env) !== "trusted") notes.push(trustNote(places.root));
      notes.push("Gemini CLI asks in its next interactive session whether the agents of /work may be used here");
    }
    return [...notes, ...notesOnStamped(stampedFiles(place))];
  },
  leftovers: (place) => leftoversOfStamped(stampedFiles(place)),
  check: checkGemini,
  isPackaged: ({ cwd, env }) => hasExtension(geminiPlaces(cwd, env)),
  deferral({ cwd, env }) {
    const { projectSettings: path } = geminiPlaces(cwd, env);
    return {
      path,
      blank: "{}\n",
      noNames: "Gemini CLI cannot list a skill's name without its description",
      keyOf: (card) =>
        geminiProfile(dirname(dirname(path)), env).ownTool?.sees(card)
          ? { key: card.id }
          : { why: "Gemini CLI does not list it anyway" },
      set: (text, keys, mode, own) => disableSkills(text, keys, { file: path, mode, own }),
      drop: (text, own, keep) => enableSkills(text, own, { file: path, keep }),
    };
  },
};

/** Only the user can trust the folder. */
function trustNote(root: string): string {
  return `Gemini CLI reads a project's settings only in a folder that you trust: start \`gemini\` in ${root} and answer its question (\`/permissions\` changes it)`;
}

/** `/work` and its agents. */
function stampedFiles({ scope, cwd, env }: Pick<WiringPlace, "scope" | "cwd" | "env">): StampedFile[] {
  const { root, configDir } = geminiPlaces(cwd, env);
  const folder = scope === "user" ? configDir : join(root, ".gemini");
  return geminiWorkFiles().map(({ path, text }) => ({
    path: join(folder, path),
    about: path.startsWith("commands/") ? "the command /work" : "agents for /work",
    text,
  }));
}

/** The settings contain paths of this machine, and the client has no settings file that stays out of commits. */
const EXCLUDED: Readonly<Record<string, string>> = {
  "/.gemini/settings.json": ".gemini/settings.json",
  "/.gemini/commands/work.toml": ".gemini/commands/work.toml",
  "/.gemini/agents/haversack-*.md": ".gemini/agents/haversack-implementer.md",
};

function settingsFile(path: string, { installed, hasGuards }: WiringPlace): WiredFile {
  return {
    path,
    about: "hooks and the MCP server",
    blank: "{}\n",
    wire: (text) => mergeGeminiSettings(text, { ...installed, file: path, hasGuards }),
    unwire: (text, keep) => unmergeGeminiSettings(text, { file: path, keep }),
  };
}
