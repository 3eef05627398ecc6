/**
 * Where to look for skills, nearest first: the project's folders, the user's, folders from the settings, and Claude Code's plugins. Of
 * plugins, only installed and enabled versions count: the plugin cache keeps old versions, which would show every skill twice. The texts are
 * passed in; only plugin manifests are read from disk.
 */
import { isAbsolute, join, normalize, resolve } from "node:path";
import { cleanLine } from "../base/clean-text.ts";
import { errorText } from "../base/errors.ts";
import { type FileSystem, isMissing } from "../base/file-system.ts";
import { isRecord, readJson } from "../base/json.ts";
import { isInside, type SkillRoot } from "./skill-files.ts";
import type { Problem, SkillSource } from "./types.ts";

export interface SourcePlaces {
  /** Absent outside of a project. */
  projectDir?: string;
  homeDir: string;
  /** `CLAUDE_CONFIG_DIR`; default `~/.claude`. */
  claudeConfigDir?: string;
  /** `XDG_CONFIG_HOME`; default `~/.config`. */
  configHome?: string;
  /** `GEMINI_CLI_HOME`, the folder of Gemini CLI's `.gemini`; default `~`. */
  geminiHome?: string;
  /** `CODEX_HOME`; default `~/.codex`. */
  codexHome?: string;
}

export interface SourceTexts {
  /** Folders from the settings: absolute, with `~/`, or relative to the project. */
  folders?: readonly string[];
  /** The texts of the files that `pluginFiles` names, if they exist. */
  installedPlugins?: NamedText;
  /** Lowest precedence first. */
  settings?: readonly NamedText[];
}

export interface NamedText {
  file: string;
  text: string;
}

/** The files whose texts `skillRoots` needs; any may be missing. Settings in order, lowest precedence first. */
export function pluginFiles(places: SourcePlaces): { installedPlugins: string; settings: string[] } {
  const config = claudeDir(places);
  const settings = [join(config, "settings.json")];
  if (places.projectDir)
    settings.push(
      join(places.projectDir, ".claude/settings.json"),
      join(places.projectDir, ".claude/settings.local.json"),
    );
  return { installedPlugins: join(config, "plugins/installed_plugins.json"), settings };
}

export function skillRoots(
  places: SourcePlaces,
  texts: SourceTexts,
  fs: FileSystem,
): { roots: SkillRoot[]; problems: Problem[] } {
  const { projectDir, homeDir, configHome = join(homeDir, ".config") } = places;
  const problems: Problem[] = [];
  const found: (Omit<SkillRoot, "source"> & { source: Omit<SkillSource, "rank"> })[] = [];
  const add = (dir: string, source: Omit<SkillSource, "rank">, more: Omit<Partial<SkillRoot>, "source"> = {}): void => {
    found.push({ dir: normalize(dir).replace(/(?<=.)[\\/]+$/, ""), ...more, source });
  };
  if (projectDir) {
    for (const label of [".haversack/skills", ".claude/skills", ".agents/skills", ...CLIENT_FOLDERS])
      add(join(projectDir, label), { kind: "project", label }, { within: projectDir });
  }
  /** A folder of the user. `usual`: how it is shown, unless a variable has `moved` it. */
  const addOwn = (dir: string, usual: string, moved?: string) => add(dir, { kind: "user", label: moved ? dir : usual });
  addOwn(join(claudeDir(places), "skills"), "~/.claude/skills", places.claudeConfigDir);
  addOwn(join(homeDir, ".agents/skills"), "~/.agents/skills");
  const inConfig = (folder: string) => addOwn(join(configHome, folder), `~/.config/${folder}`, places.configHome);
  inConfig("haversack/skills");
  addOwn(join(places.geminiHome ?? homeDir, ".gemini/skills"), "~/.gemini/skills", places.geminiHome);
  addOwn(join(places.codexHome ?? join(homeDir, ".codex"), "skills"), "~/.codex/skills", places.codexHome);
  for (const folder of OPENCODE_FOLDERS) inConfig(`opencode/${folder}`);
  for (const folder of OPENCODE_FOLDERS) addOwn(join(homeDir, ".opencode", folder), `~/.opencode/${folder}`);
  for (const folder of texts.folders ?? []) {
    const written = cleanLine(folder);
    if (written === "") continue;
    add(
      resolve(projectDir ?? homeDir, expandHome(written, homeDir)),
      { kind: "folder", label: written },
      { isNamed: true },
    );
  }
  for (const { name, dirs } of enabledPlugins(places, texts, fs, problems)) {
    for (const dir of dirs) add(dir, { kind: "plugin", label: `plugin ${name}` }, { plugin: name });
  }
  // The home folder can be the project, and the settings can name a default folder. The nearest place counts.
  const seen = new Set<string>();
  const roots: SkillRoot[] = [];
  for (const root of found) {
    if (seen.has(root.dir)) continue;
    seen.add(root.dir);
    roots.push({ ...root, source: { ...root.source, rank: roots.length } });
  }
  return { roots, problems };
}

/** opencode reads both (seen in 1.18.33), in each of its config folders. */
const OPENCODE_FOLDERS = ["skills", "skill"];

/** What Gemini CLI, Codex and opencode read besides the shared folders. */
const CLIENT_FOLDERS = [".gemini/skills", ".codex/skills", ...OPENCODE_FOLDERS.map((folder) => `.opencode/${folder}`)];

function claudeDir({ claudeConfigDir, homeDir }: SourcePlaces): string {
  return claudeConfigDir ? expandHome(claudeConfigDir, homeDir) : join(homeDir, ".claude");
}

function expandHome(path: string, homeDir: string): string {
  return path === "~" ? homeDir : path.startsWith("~/") ? join(homeDir, path.slice(2)) : path;
}

interface EnabledPlugin {
  name: string;
  dirs: string[];
}

function enabledPlugins(
  places: SourcePlaces,
  texts: SourceTexts,
  fs: FileSystem,
  problems: Problem[],
): EnabledPlugin[] {
  const list = texts.installedPlugins;
  if (!list) return [];
  const installed = readObject(list, problems)?.["plugins"];
  if (!isRecord(installed)) {
    if (problems.every(({ file }) => file !== list.file))
      report(problems, list.file, "plugins", "expected an object of installed plugins");
    return [];
  }
  const enabled = new Map<string, boolean>();
  for (const settings of texts.settings ?? []) {
    const switches = readObject(settings, problems)?.["enabledPlugins"];
    if (!isRecord(switches)) continue;
    // A list of versions counts as true.
    for (const [id, value] of Object.entries(switches))
      enabled.set(id, value === true || (Array.isArray(value) && value.length > 0));
  }
  const plugins: EnabledPlugin[] = [];
  for (const [id, value] of Object.entries(installed)) {
    if (enabled.get(id) !== true) continue;
    const name = id.split("@", 1)[0]!;
    // The name becomes part of IDs: `plugin:skill`.
    if (!/^[\w.-]{1,100}$/.test(name)) {
      report(problems, list.file, `plugins.${cleanLine(id, { maxChars: 80 })}`, "not a valid plugin name");
      continue;
    }
    const entry = currentInstall(value, places);
    const path =
      typeof entry?.["installPath"] === "string" ? expandHome(entry["installPath"], places.homeDir) : undefined;
    if (entry === undefined) continue;
    if (path === undefined || !isAbsolute(path))
      report(problems, list.file, `plugins.${id}`, "expected an absolute installPath");
    else plugins.push({ name, dirs: pluginSkillDirs(normalize(path), fs, problems) });
  }
  return plugins.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Of several installs, the one for this project, else the user's, else the latest. Version 1 of the file has one object. */
function currentInstall(value: unknown, { projectDir }: SourcePlaces): Record<string, unknown> | undefined {
  const entries = (Array.isArray(value) ? value : [value]).filter(isRecord).filter((entry) => {
    if (typeof entry["projectPath"] !== "string") return true;
    return projectDir !== undefined && isInside(normalize(projectDir), normalize(entry["projectPath"]));
  });
  const rank = (entry: Record<string, unknown>): number => (typeof entry["projectPath"] === "string" ? 0 : 1);
  const time = (entry: Record<string, unknown>): string => String(entry["lastUpdated"] ?? entry["installedAt"] ?? "");
  return entries.sort((a, b) => rank(a) - rank(b) || (time(a) < time(b) ? 1 : -1))[0];
}

/** `skills/`, and folders inside the plugin that its manifest names. */
function pluginSkillDirs(installPath: string, fs: FileSystem, problems: Problem[]): string[] {
  const dirs = [join(installPath, "skills")];
  const file = join(installPath, ".claude-plugin/plugin.json");
  let text: string;
  try {
    text = fs.readFile(file);
  } catch (error) {
    // The manifest is optional.
    if (!isMissing(error)) report(problems, file, undefined, errorText(error));
    return dirs;
  }
  const named = readObject({ file, text }, problems)?.["skills"];
  for (const path of Array.isArray(named) ? named : named === undefined ? [] : [named]) {
    const dir = typeof path === "string" ? resolve(installPath, path) : undefined;
    if (dir !== undefined && isInside(dir, installPath)) dirs.push(dir);
    else report(problems, file, "skills", "expected paths inside the plugin");
  }
  return dirs;
}

function readObject({ file, text }: NamedText, problems: Problem[]): Record<string, unknown> | undefined {
  const { value, problem } = readJson(text);
  if (problem === undefined && isRecord(value)) return value;
  report(problems, file, undefined, problem ?? "expected an object");
  return undefined;
}

function report(problems: Problem[], file: string, where: string | undefined, text: string): void {
  problems.push({
    level: "warning",
    code: "plugins-unreadable",
    file,
    ...(where === undefined ? {} : { where }),
    text,
  });
}
