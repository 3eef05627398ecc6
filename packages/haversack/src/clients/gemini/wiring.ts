/** Gemini CLI as `init`, `doctor` and `uninstall` see it. */
import { dirname, join } from "node:path";
import type { CheckPlace, Client, Finding, WiredFile, WiringPlace } from "../../engine/wiring.ts";
import {
  checkEvents,
  checkHooks,
  checkServer,
  findings,
  initCommand,
  notWired,
  presentHooks,
  readSettingsFiles,
  type SettingsValue,
  type WiredIn,
  wiredFiles,
} from "../check-client.ts";
import { checkVersion } from "../client-program.ts";
import { excludeLines } from "../git-view.ts";
import { objectOf } from "../json-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { commandOf, serverEntry } from "../server-entry.ts";
import { leftoversOfStamped, notesOnStamped, type StampedFile, wireStamped } from "../stamped-file.ts";
import { geminiWorkFiles } from "../work-files.ts";
import { geminiProfile } from "./adapter.ts";
import { folderTrust } from "./folder-trust.ts";
import {
  blockedByCommit,
  findGemini,
  type GeminiPlaces,
  geminiPlaces,
  hasExtension,
  isCommitted,
  WIRE_FOR_USER,
} from "./places.ts";
import {
  disableSkills,
  enableSkills,
  GEMINI_HOOKS,
  mergeGeminiSettings,
  SERVERS,
  unmergeGeminiSettings,
} from "./settings.ts";

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
      if (folderTrust(places, env) !== "trusted") {
        notes.push(
          `Gemini CLI reads a project's settings only in a folder that you trust: start \`gemini\` in ${places.root} and answer its question (\`/permissions\` changes it)`,
        );
      }
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

const NAME = "gemini";

const CLIENT = {
  name: NAME,
  hooks: GEMINI_HOOKS,
  variables: (cwd: string) => ({ GEMINI_PROJECT_DIR: cwd, GEMINI_CLI: "1" }),
} as const;

const UNREADABLE = { level: "warn", remedy: "correct it: the client cannot read it either" } as const;

export async function checkGemini(place: CheckPlace): Promise<Finding[]> {
  const places = geminiPlaces(place.cwd, place.env);
  const paths = [places.projectSettings, places.userSettings];
  const { files, problems } = readSettingsFiles(GEMINI_HOOKS, paths, UNREADABLE);
  const wired = wiredFiles(GEMINI_HOOKS, files);
  const isWired = wired.length > 0;
  const isExtended = hasExtension(places);
  return [
    await checkVersion(NAME, place),
    ...problems,
    ...stoppedHooks(files),
    ...(isExtended ? [extensionFinding(place, places)] : []),
    ...wired.flatMap((one) => checkFile(one, place, places)),
    ...(isWired ? await checkEvents(CLIENT, presentHooks(wired), place) : []),
    ...(isWired || isExtended ? [] : [withoutHooks(place)]),
    ...(await checkOwnServer(files, { place, isExtended, isWired })),
  ];
}

function stoppedHooks(files: readonly SettingsValue[]): Finding[] {
  return files.flatMap(({ path, value }): Finding[] => {
    const { enabled, disabled } = objectOf(value["hooksConfig"]);
    const isOff = enabled === false || (Array.isArray(disabled) && disabled.includes("haversack"));
    if (!isOff) return [];
    const remedy = "`/hooks enable haversack` in a session, or remove it from hooksConfig";
    return [findings(`${NAME} hooks`).fail(`switched off in ${path}: no hook of ours runs`, remedy)];
  });
}

function withoutHooks(place: CheckPlace): Finding {
  const blocked = blockedByCommit({ ...place, scope: "project" });
  const what = blocked?.why ?? "the settings have no hook of Haversack";
  const remedy = blocked?.instead ?? `\`${initCommand(place, NAME)}\` connects it`;
  return notWired(`${NAME} hooks`, { what, remedy, wasWired: place.wasWired });
}

function extensionFinding({ env }: CheckPlace, { extension, root }: GeminiPlaces): Finding {
  const wiredIn = ownWiring(NAME, { root, cwd: root, env });
  const also = wiredIn ? `; it is inactive, because ${wiredIn} has hooks of \`haversack init\`` : "";
  return findings(`${NAME} extension`).ok(`installed in ${extension}${also}`);
}

function checkFile(wired: WiredIn, place: CheckPlace, places: GeminiPlaces): Finding[] {
  const { path } = wired;
  const isProject = path === places.projectSettings;
  const remedy = `\`haversack init --client gemini${isProject ? "" : " --user"}\` repairs it`;
  const found = checkHooks(GEMINI_HOOKS, wired, { place, remedy });
  if (!isProject || folderTrust(places, place.env) === "trusted") return found;
  const text = `${places.root} is not trusted, and without that the client ignores ${path}`;
  const trust = "start `gemini` there and trust the folder; `/permissions` changes it";
  return [...found, { ...findings(`${NAME} hooks`).warn(text, trust), isSilencing: true }];
}

async function checkOwnServer(
  files: readonly SettingsValue[],
  { place, isExtended, isWired }: { place: CheckPlace; isExtended: boolean; isWired: boolean },
): Promise<Finding[]> {
  const { warn, fail } = findings(`${NAME} MCP server`);
  const found = files.find(({ value }) => serverEntry(value, SERVERS));
  const entry = found && serverEntry(found.value, SERVERS);
  if (!found || !entry) {
    if (isExtended || !(isWired || place.wasWired)) return [];
    const remedy = `\`${isCommitted({ ...place, scope: "project" }) ? WIRE_FOR_USER : initCommand(place, NAME)}\` writes it`;
    return [fail('no server "haversack" in the settings', remedy)];
  }
  const server = await checkServer(CLIENT, commandOf(entry), place);
  if (entry["trust"] === true) return [server];
  const text = "every call stops at a question, and headless sessions do not have its tools";
  return [server, warn(text, `set "trust": true for it in ${found.path}, if you want that`)];
}
