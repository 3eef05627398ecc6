/**
 * Hides skills from the client's own listing, and restores them. No skill file changes. The receipt records which entries are ours; entries
 * that the user made or changed are left alone.
 *
 * While Haversack is off nothing recommends a skill, so `off` pauses all entries: they move from the client's settings into the receipt
 * until `on`.
 */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorText } from "../base/errors.ts";
import { readJson } from "../base/json.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { checkTrust, userStateFolder } from "../base/project-trust.ts";
import { makeFolder, putFile, requireNoLink, USER } from "../base/safe-write.ts";
import type { SkillCard } from "../skills/types.ts";
import { linkedWorktrees } from "./checkouts.ts";
import { lockReceipt, readText } from "./init.ts";
import type { Environment, ProjectPaths } from "./project.ts";
import { putBack } from "./uninstall.ts";
import { placeOfWired } from "./wired-place.ts";
import type { Client, DeferMode, Deferral } from "./wiring.ts";
import { fieldsOf, readReceipt, textsOf, writeReceipt } from "./wiring-receipt.ts";

export interface DeferReport {
  file: string;
  /** The client's names of the skills that were deferred or restored. */
  skills: string[];
  skipped: { name: string; why: string }[];
  isChanged: boolean;
}

interface Options {
  /** Where the receipt is kept. */
  folder: string;
  /** Where the command was called, or a folder of the project that these settings belong to. */
  cwd: string;
  isDryRun: boolean;
}

export function deferSkills(
  cards: readonly SkillCard[],
  deferral: Deferral,
  { mode, ...options }: Options & { mode: DeferMode },
): DeferReport {
  const skipped: DeferReport["skipped"] = [];
  const keys = new Set<string>();
  for (const card of cards) {
    const answer = deferral.keyOf(card);
    if ("key" in answer) keys.add(answer.key);
    else skipped.push({ name: card.id, why: answer.why });
  }
  const report = locked(options, () => deferKeys([...keys].sort(), mode, deferral, options));
  return { ...report, skipped: [...skipped, ...report.skipped] };
}

function deferKeys(
  keys: readonly string[],
  mode: DeferMode,
  deferral: Deferral,
  { folder, cwd, isDryRun }: Options,
): DeferReport {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const before = readText(deferral.path);
  const change = deferral.set(before?.trim() ? before : deferral.blank, keys, mode, known);
  const skipped = change.foreign.map(({ key, value }) => ({
    name: nameOf(deferral, key),
    why: `already has an entry of yours: ${value}`,
  }));

  const isChanged = change.text !== (before ?? deferral.blank);
  if (isChanged && !isDryRun) {
    const place = placeOfWired(deferral.path, { scope: "project", cwd });
    requireNoLink(deferral.path, place);
    const folders = makeFolder(dirname(deferral.path), place);
    // Write the receipt first: an entry that is not recorded would count as the user's.
    receipt.deferred.entries[deferral.path] = { ...known, ...change.own };
    const own = receipt.deferred.files[deferral.path];
    receipt.deferred.files[deferral.path] = own ?? { isNew: before === undefined, folders, keep: change.keep };
    writeReceipt(folder, receipt);
    putFile(deferral.path, change.text, { ...place, mode: deferral.isPrivate ? 0o600 : 0o644 });
  }
  const skills = Object.keys(change.own).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

/** `names`: keys or ids. Undefined: all entries of ours. */
export function undeferSkills(names: readonly string[] | undefined, deferral: Deferral, options: Options): DeferReport {
  return locked(options, () => undeferKeys(names, deferral, options));
}

function undeferKeys(
  names: readonly string[] | undefined,
  deferral: Deferral,
  { folder, cwd, isDryRun }: Options,
): DeferReport {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const paused = receipt.deferred.paused[deferral.path] ?? {};
  const wanted = names ?? [...new Set([...Object.keys(known), ...Object.keys(paused)])];
  const waiting = wanted.filter((name) => paused[name] !== undefined);
  const own = Object.fromEntries(wanted.flatMap((name) => (known[name] ? [[name, known[name]]] : [])));
  const skipped = wanted
    .filter((name) => !known[name] && !waiting.includes(name))
    .map((name) => ({ name: nameOf(deferral, name), why: "was not deferred by `haversack skill defer`" }));

  const isChanged = dropEntries(own, deferral, { folder, cwd, isDryRun });
  if (!isDryRun && waiting.length > 0) {
    setPaused(deferral, without(paused, waiting), folder);
  }
  const skills = [...new Set([...Object.keys(own), ...waiting])].map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

/**
 * Removes our entries from the client's settings until `resumeDeferred`. An entry that a person has since removed or changed belongs to
 * that person and does not come back.
 */
function pauseDeferred(deferral: Deferral, options: Options): DeferReport {
  const { folder } = options;
  const inForce = deferredInForce(deferral, folder);
  // Write the note first, so a kill in between does not lose which entries were ours.
  setPaused(deferral, { ...readReceipt(folder).deferred.paused[deferral.path], ...inForce }, folder);
  const known = readReceipt(folder).deferred.entries[deferral.path] ?? {};
  const isChanged = dropEntries(known, deferral, options);
  const skills = Object.keys(inForce).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped: [], isChanged };
}

/** Restores what `pauseDeferred` removed, each entry in its mode. */
function resumeDeferred(deferral: Deferral, options: Options): DeferReport {
  const { folder } = options;
  const paused = Object.entries(readReceipt(folder).deferred.paused[deferral.path] ?? {});
  const whole: DeferReport = { file: deferral.path, skills: [], skipped: [], isChanged: false };
  for (const mode of ["hidden", "names"] as const) {
    const keys = paused.filter(([, value]) => modeOf(deferral, value) === mode).map(([key]) => key);
    if (keys.length === 0) continue;
    const { skills, skipped, isChanged } = deferKeys(keys, mode, deferral, options);
    whole.skills.push(...skills);
    whole.skipped.push(...skipped);
    whole.isChanged ||= isChanged;
  }
  setPaused(deferral, {}, folder);
  return whole;
}

/** Our entries that are unchanged in the client's settings. */
export function deferredInForce(deferral: Deferral, folder: string): Record<string, string> {
  const known = Object.entries(readReceipt(folder).deferred.entries[deferral.path] ?? {});
  const text = known.length > 0 ? readText(deferral.path) : undefined;
  if (!text?.trim()) return {};
  const untouched = deferral.drop(text, {}, []);
  return Object.fromEntries(known.filter(([key, value]) => deferral.drop(text, { [key]: value }, []) !== untouched));
}

/** A dry run writes nothing, not even the lock. */
function locked<T>({ folder, isDryRun }: Pick<Options, "folder" | "isDryRun">, action: () => T): T {
  return isDryRun ? action() : lockReceipt(folder, action);
}

export function modeOf(deferral: Deferral, value: string): DeferMode {
  return deferral.modeOf?.(value) ?? "hidden";
}

/** Removes these entries from the file and the receipt. Deletes the file if we made it and it is now empty. */
function dropEntries(own: Entries, deferral: Deferral, { folder, cwd, isDryRun }: Options): boolean {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const before = readText(deferral.path);
  const made = receipt.deferred.files[deferral.path];
  const rest = before?.trim() ? deferral.drop(before, own, made?.keep ?? []) : before;
  const wired = receipt.files[deferral.path];
  const after = made?.isNew && !wired && rest?.trim() === deferral.blank.trim() ? undefined : rest;
  const isChanged = after !== before;
  if (isDryRun || Object.keys(own).length === 0) return isChanged;
  if (isChanged && before !== undefined) {
    putBack(
      deferral.path,
      { before, after, folders: made?.folders ?? [] },
      placeOfWired(deferral.path, { scope: "project", cwd }),
    );
  }
  const left = without(known, Object.keys(own));
  if (Object.keys(left).length > 0) receipt.deferred.entries[deferral.path] = left;
  else {
    // From now on `uninstall` has to remove the file.
    if (wired && made?.isNew) receipt.files[deferral.path] = { ...wired, isNew: true, folders: made.folders };
    delete receipt.deferred.entries[deferral.path];
    delete receipt.deferred.files[deferral.path];
  }
  writeReceipt(folder, receipt);
  return isChanged;
}

type Entries = Readonly<Record<string, string>>;

function without(entries: Entries, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)));
}

function setPaused(deferral: Deferral, paused: Entries, folder: string): void {
  const receipt = readReceipt(folder);
  if (Object.keys(paused).length > 0) receipt.deferred.paused[deferral.path] = { ...paused };
  else delete receipt.deferred.paused[deferral.path];
  writeReceipt(folder, receipt);
}

function nameOf(deferral: Deferral, key: string): string {
  return deferral.nameOf?.(key) ?? key;
}

// A user-level list of the projects in which skills are deferred. `off --user` switches Haversack off in all of them,
// so all of them must get their listings back. Projects that are gone or have nothing deferred drop out by themselves.

const FILE = "deferred-projects.json";

interface Noted {
  projects: string[];
  /** Folders made for the file, outermost first. */
  folders: string[];
}

/** Root folders, including this project's if it has deferred skills. */
export function deferredProjects({ user, root }: ProjectPaths): string[] {
  return [...new Set([...readNoted(join(user, FILE)).projects, root])].filter((project) => {
    if (!existsSync(join(project, STATE_FOLDER))) return false;
    const { entries, paused } = readReceipt(join(project, STATE_FOLDER)).deferred;
    return [entries, paused].some((part) => Object.keys(part).length > 0);
  });
}

/** Updates the list from this project's receipt. */
export function noteDeferredProject(paths: ProjectPaths): void {
  const file = join(paths.user, FILE);
  const before = readText(file);
  const noted = readNoted(file);
  const projects = deferredProjects(paths);
  if (projects.length === 0) {
    if (before !== undefined) putBack(file, { before, after: undefined, folders: noted.folders }, { within: USER });
    return;
  }
  if (projects.join("\n") === noted.projects.join("\n")) return;
  const folders = before === undefined ? makeFolder(paths.user, { within: USER }) : noted.folders;
  putFile(file, `${JSON.stringify({ projects, folders }, null, 2)}\n`, { within: USER });
}

/** A lost or broken list counts as empty: each project is added again at its next `skill defer`, `off` or `on`. */
function readNoted(file: string): Noted {
  const { projects, folders } = fieldsOf(readJson(readText(file) ?? "{}").value);
  return { projects: textsOf(projects), folders: textsOf(folders) };
}

// What `off` and `on` do to deferred skills: while Haversack is off nothing loads them, so the clients list them again.
// Problems with one client's settings are reported but do not stop the switch.

export interface SwitchedSkills {
  project: string;
  client: Client;
  report: DeferReport;
  /** Why nothing was done there; then the report is empty. */
  problem?: string;
}

interface Clients {
  clients: readonly Client[];
  env: Environment;
}

/** `projects`: their root folders. */
export function restoreListings(projects: readonly string[], place: Clients): SwitchedSkills[] {
  return inEach(projects, place, { part: "entries", act: pauseDeferred });
}

export function deferAgain(projects: readonly string[], place: Clients): SwitchedSkills[] {
  return inEach(projects, place, { part: "paused", act: resumeDeferred });
}

function inEach(
  projects: readonly string[],
  { clients, env }: Clients,
  { part, act }: { part: "entries" | "paused"; act: typeof pauseDeferred },
): SwitchedSkills[] {
  return projects.flatMap((project) => {
    const folder = join(project, STATE_FOLDER);
    // Do not trust somebody else's receipt; the switch still works.
    if (checkTrust(folder, userStateFolder(env)).kind === "untrusted") return [];
    if (Object.keys(readReceipt(folder).deferred[part]).length === 0) return [];
    // Some clients have a listing in every checkout.
    const checkouts = [project, ...linkedWorktrees(project)].filter((checkout) => existsSync(checkout));
    const seen = new Set<string>();
    return clients.flatMap((client) =>
      checkouts.flatMap((cwd): SwitchedSkills[] => {
        const deferral = client.deferral?.({ cwd, env });
        // Other clients have one listing for all checkouts.
        if (!deferral || seen.has(deferral.path) || !readReceipt(folder).deferred[part][deferral.path]) return [];
        seen.add(deferral.path);
        try {
          return [
            { project, client, report: lockReceipt(folder, () => act(deferral, { folder, cwd, isDryRun: false })) },
          ];
        } catch (error) {
          const report = { file: deferral.path, skills: [], skipped: [], isChanged: false };
          return [{ project, client, report, problem: errorText(error) }];
        }
      }),
    );
  });
}
