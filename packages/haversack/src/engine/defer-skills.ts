/**
 * Keeps skills out of the client's own listing, and lets them back in. No file of a skill is touched. Which entries are ours
 * stands in the receipt; an entry that the user made or changed is left alone.
 */
import { dirname } from "node:path";
import type { SkillCard } from "../skills/types.ts";
import { readText } from "./init.ts";
import { makeFolders, replaceFile } from "./replace-file.ts";
import { putBack } from "./uninstall.ts";
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
  isDryRun: boolean;
}

export function deferSkills(
  cards: readonly SkillCard[],
  deferral: Deferral,
  { mode, folder, isDryRun }: Options & { mode: DeferMode },
): DeferReport {
  const skipped: DeferReport["skipped"] = [];
  const keys = new Set<string>();
  for (const card of cards) {
    const answer = deferral.keyOf(card);
    if ("key" in answer) keys.add(answer.key);
    else skipped.push({ name: card.id, why: answer.why });
  }
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const before = readText(deferral.path);
  const change = deferral.set(before?.trim() ? before : deferral.blank, [...keys].sort(), mode, known);
  for (const { key, value } of change.foreign)
    skipped.push({ name: nameOf(deferral, key), why: `has an entry of yours already: ${value}` });

  const isChanged = change.text !== (before ?? deferral.blank);
  if (isChanged && !isDryRun) {
    const folders = makeFolders(dirname(deferral.path));
    // The receipt first: an entry of ours that is not recorded would count as the user's.
    receipt.deferred.entries[deferral.path] = { ...known, ...change.own };
    const own = receipt.deferred.files[deferral.path];
    receipt.deferred.files[deferral.path] = own ?? { isNew: before === undefined, folders, keep: change.keep };
    writeReceipt(folder, receipt);
    replaceFile(deferral.path, change.text, deferral.isPrivate ? { modeIfNew: 0o600 } : {});
  }
  const skills = Object.keys(change.own).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

/** `names`: keys or ids; undefined: all that are ours. */
export function undeferSkills(
  names: readonly string[] | undefined,
  deferral: Deferral,
  { folder, isDryRun }: Options,
): DeferReport {
  const receipt = readReceipt(folder);
  const known = receipt.deferred.entries[deferral.path] ?? {};
  const wanted = names ?? Object.keys(known);
  const own = Object.fromEntries(wanted.flatMap((name) => (known[name] ? [[name, known[name]]] : [])));
  const skipped = wanted
    .filter((name) => !known[name])
    .map((name) => ({ name: nameOf(deferral, name), why: "was not deferred by `haversack skills defer`" }));

  const before = readText(deferral.path);
  const made = receipt.deferred.files[deferral.path];
  const rest = before?.trim() ? deferral.drop(before, own, made?.keep ?? []) : before;
  const wired = receipt.files[deferral.path];
  const after = made?.isNew && !wired && rest?.trim() === deferral.blank.trim() ? undefined : rest;
  const isChanged = after !== before;
  if (!isDryRun && Object.keys(own).length > 0) {
    if (isChanged && before !== undefined) putBack(deferral.path, before, after, made?.folders ?? []);
    const left = Object.fromEntries(Object.entries(known).filter(([name]) => !(name in own)));
    if (Object.keys(left).length > 0) receipt.deferred.entries[deferral.path] = left;
    else {
      // The file is `uninstall`'s to remove now.
      if (wired && made?.isNew) receipt.files[deferral.path] = { ...wired, isNew: true, folders: made.folders };
      delete receipt.deferred.entries[deferral.path];
      delete receipt.deferred.files[deferral.path];
    }
    writeReceipt(folder, receipt);
  }
  const skills = Object.keys(own).map((key) => nameOf(deferral, key));
  return { file: deferral.path, skills, skipped, isChanged };
}

function nameOf(deferral: Deferral, key: string): string {
  return deferral.nameOf?.(key) ?? key;
}
