/** What `doctor` checks in Gemini CLI: version, folder trust, settings, hooks, MCP server. */
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
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
import { objectOf } from "../json-settings.ts";
import { ownWiring } from "../own-wiring.ts";
import { commandOf, serverEntry } from "../server-entry.ts";
import { folderTrust } from "./folder-trust.ts";
import {
  blockedByCommit,
  type GeminiPlaces,
  geminiPlaces,
  hasExtension,
  isCommitted,
  WIRE_FOR_USER,
} from "./places.ts";
import { GEMINI_HOOKS, SERVERS } from "./settings.ts";

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
