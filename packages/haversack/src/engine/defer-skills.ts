/**
 * Keeps skills out of the client's own listing, and lets them back in. No file of a skill is touched. Which entries are ours
 * stands in the receipt; an entry that the user made or changed is left alone.
 *
 * While Haversack is off nothing recommends a skill, so `off` pauses all entries: they leave the client's settings and wait in the
 * receipt until `on`.
 */
import { dirname } from "node:path";
import { makeFolder, type Place, putFile, requireNoLink } from "../base/safe-write.ts";
import type { SkillCard } from "../skills/types.ts";
import { readText } from "./init.ts";
import { putBack } from "./uninstall.ts";
import { placeOfWired } from "./wired-place.ts";
import type { DeferMode, Deferral } from "./wiring.ts";
import { readReceipt, writeReceipt } from "./wiring-receipt.ts";

export interface DeferReport {
  file: string;
  /** The client's names of the skills that are deferred now, or were let in again. */
  skills: string[];
  skipped: { name: string; why: string }[];
  isChanged: boolean;
}

interface Options {
  /** Where the receipt is kept. */
  folder: string;
  /** Where the command was called, or a folder of the project whose settings these are. */
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
  const report = deferKeys([...keys].sort(), deferral, { mode, ...options });
  return { ...report, skipped: [...skipped, ...report.skipped] };
}

function deferKeys(
  keys: readonly string[],
  deferral: Deferral,
  { mode, folder, cwd, isDryRun }: Options & { mode: DeferMode },
): DeferReport {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const before = readText(deferral.path);
  const change = deferral.set(before?.trim() ? before : deferral.blank, keys, mode, known);
  const skipped = change.foreign.map(({ key, value }) => ({
    name: nameOf(deferral, key),
    why: `has an entry of yours already: ${value}`,
  }));

  const isChanged = change.text !== (before ?? deferral.blank);
  if (isChanged && !isDryRun) {
    const place = placeOf(deferral, cwd);
    requireNoLink(deferral.path, place);
    const folders = makeFolder(dirname(deferral.path), place);
    // The receipt first: an entry of ours that is not recorded would count as the user's.
    receipt.deferred.entries[deferral.path] = { ...known, ...change.own };
    const own = receipt.deferred.files[deferral.path];
    receipt.deferred.files[deferral.path] = own ?? { isNew: before === undefined, folders, keep: change.keep };
    writeReceipt(folder, receipt);
    putFile(deferral.path, change.text, { ...place, mode: deferral.isPrivate ? 0o600 : 0o644 });
  }
  const skills = Object.keys(change.own).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

/** `names`: keys or ids; undefined: all that are ours. */
export function undeferSkills(
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
    .map((name) => ({ name: nameOf(deferral, name), why: "was not deferred by `haversack skills defer`" }));

  const { isChanged } = dropEntries(own, deferral, { folder, cwd, isDryRun });
  if (!isDryRun && waiting.length > 0) {
    const left = Object.entries(paused).filter(([name]) => !waiting.includes(name));
    setPaused(deferral, Object.fromEntries(left), folder);
  }
  const skills = [...new Set([...Object.keys(own), ...waiting])].map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

/**
 * Takes our entries out of the client's settings until `resumeDeferred`. An entry that a person has removed or changed since is theirs,
 * and does not come back.
 */
export function pauseDeferred(deferral: Deferral, { folder, cwd }: Pick<Options, "folder" | "cwd">): DeferReport {
  const inForce = deferredInForce(deferral, folder);
  // The note first: a kill in between must not lose which entries were ours.
  setPaused(deferral, { ...readReceipt(folder).deferred.paused[deferral.path], ...inForce }, folder);
  const known = readReceipt(folder).deferred.entries[deferral.path] ?? {};
  const { isChanged } = dropEntries(known, deferral, { folder, cwd, isDryRun: false });
  const skills = Object.keys(inForce).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped: [], isChanged };
}

/** Puts back what `pauseDeferred` took out, each in the mode it had. */
export function resumeDeferred(deferral: Deferral, { folder, cwd }: Pick<Options, "folder" | "cwd">): DeferReport {
  const paused = Object.entries(readReceipt(folder).deferred.paused[deferral.path] ?? {});
  const whole: DeferReport = { file: deferral.path, skills: [], skipped: [], isChanged: false };
  for (const mode of ["hidden", "names"] as const) {
    const keys = paused.filter(([, value]) => modeOf(deferral, value) === mode).map(([key]) => key);
    if (keys.length === 0) continue;
    const { skills, skipped, isChanged } = deferKeys(keys, deferral, { mode, folder, cwd, isDryRun: false });
    whole.skills.push(...skills);
    whole.skipped.push(...skipped);
    whole.isChanged ||= isChanged;
  }
  setPaused(deferral, {}, folder);
  return whole;
}

/** Our entries that the client's settings still have as we wrote them. */
export function deferredInForce(deferral: Deferral, folder: string): Record<string, string> {
  const known = Object.entries(readReceipt(folder).deferred.entries[deferral.path] ?? {});
  const text = known.length > 0 ? readText(deferral.path) : undefined;
  if (!text?.trim()) return {};
  const untouched = deferral.drop(text, {}, []);
  return Object.fromEntries(known.filter(([key, value]) => deferral.drop(text, { [key]: value }, []) !== untouched));
}

export function modeOf(deferral: Deferral, value: string): DeferMode {
  return deferral.modeOf?.(value) ?? "hidden";
}

/** Takes these entries of ours out of the file and of the receipt; the file goes when we made it and nothing is left in it. */
function dropEntries(
  own: Readonly<Record<string, string>>,
  deferral: Deferral,
  { folder, cwd, isDryRun }: Options,
): { isChanged: boolean } {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const before = readText(deferral.path);
  const made = receipt.deferred.files[deferral.path];
  const rest = before?.trim() ? deferral.drop(before, own, made?.keep ?? []) : before;
  const wired = receipt.files[deferral.path];
  const after = made?.isNew && !wired && rest?.trim() === deferral.blank.trim() ? undefined : rest;
  const isChanged = after !== before;
  if (isDryRun || Object.keys(own).length === 0) return { isChanged };
  if (isChanged && before !== undefined) {
    putBack(deferral.path, { before, after, folders: made?.folders ?? [] }, placeOf(deferral, cwd));
  }
  const left = Object.fromEntries(Object.entries(known).filter(([name]) => !(name in own)));
  if (Object.keys(left).length > 0) receipt.deferred.entries[deferral.path] = left;
  else {
    // The file is `uninstall`'s to remove now.
    if (wired && made?.isNew) receipt.files[deferral.path] = { ...wired, isNew: true, folders: made.folders };
    delete receipt.deferred.entries[deferral.path];
    delete receipt.deferred.files[deferral.path];
  }
  writeReceipt(folder, receipt);
  return { isChanged };
}

function setPaused(deferral: Deferral, paused: Readonly<Record<string, string>>, folder: string): void {
  const receipt = readReceipt(folder);
  if (Object.keys(paused).length > 0) receipt.deferred.paused[deferral.path] = { ...paused };
  else delete receipt.deferred.paused[deferral.path];
  writeReceipt(folder, receipt);
}

function placeOf({ path }: Deferral, cwd: string): Place {
  return placeOfWired(path, { scope: "project", cwd });
}

function nameOf(deferral: Deferral, key: string): string {
  return deferral.nameOf?.(key) ?? key;
}
