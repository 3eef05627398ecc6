/**
 * Loads a skill's text for a model or a person: once per window, then a one-line note. Required skills come first; resources are listed by
 * name. If the skill changed since the window got it, the new version is sent with a note.
 */

import { join } from "node:path";
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { nearest } from "../base/nearest.ts";
import {
  formatAlreadyLoaded,
  formatSkill,
  formatUnknownSkill,
  type SkillResources,
} from "../skills/showing/skill-output.ts";
import { listResources, readResource } from "../skills/skill-resources.ts";
import type { SkillCard } from "../skills/types.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import type { ResourceText, SkillText } from "./library-types.ts";

export interface LoadInput {
  name: string;
  /** Absent: the window is unknown, and the body is always sent. */
  session?: { sessionId: string; agentId?: string };
  reload?: boolean;
  /** Default: true. */
  includeResources?: boolean;
  at: Date;
}

/** What loading needs from an index: the one in SQLite, or a pool in memory. */
export interface LoadIndex {
  card(id: string): SkillCard | undefined;
  listCards(): SkillCard[];
  /** The text of a version. */
  body(hash: string): string | undefined;
}

/** What loading needs from a ledger: what the window has been shown. */
export interface LoadLedger {
  tracking(session: { sessionId: string; agentId?: string }): {
    window: number;
    promptCount: number;
    ledger: readonly { skill: string; loadedHash?: string | undefined }[];
  };
  recordLoad(load: LoadRecord): void;
}

export interface LoadRecord {
  sessionId: string;
  agentId?: string;
  at: Date;
  window: number;
  promptNumber: number;
  skill: string;
  hash: string;
  tokens: number;
  by: "haversack";
}

export interface LoadParts {
  index: LoadIndex;
  ledger: LoadLedger;
  listResources(folder: string): SkillResources;
  /** How the model reads a resource. Default: with its Read tool. */
  readHint?: string;
}

export function loadSkill(input: LoadInput, parts: LoadParts): SkillText {
  const { index, ledger } = parts;
  const card = findCard(input.name, index);
  if (!card) return unknownSkill(input.name, index);
  // Only a rules file names it, so there is no text to load.
  if (card.sourceKind === "rule") return unknownSkill(input.name, index, card);

  const tracking = input.session && ledger.tracking(input.session);
  const loadedHash = (id: string) => tracking?.ledger.find(({ skill }) => skill === id)?.loadedHash;
  const before = loadedHash(card.id);
  if (before === card.hash && !input.reload) {
    return { kind: "already-loaded", id: card.id, text: formatAlreadyLoaded(card.id), hash: card.hash };
  }

  const hasChanged = before !== undefined && before !== card.hash;
  const { cards, notes } = withRequired(card, index);
  const texts: string[] = [];
  const resourcesOf = ({ folder }: SkillCard) =>
    input.includeResources !== false && folder ? parts.listResources(folder) : undefined;
  const resources = resourcesOf(card);
  for (const needed of cards) {
    const isMain = needed.id === card.id;
    if (!isMain && loadedHash(needed.id) === needed.hash) continue;
    const text = formatSkill({
      id: needed.id,
      description: needed.description,
      body: index.body(needed.hash) ?? "",
      folder: needed.folder,
      resources: isMain ? resources : resourcesOf(needed),
      readHint: parts.readHint,
      ...(isMain && { notes: before && hasChanged ? [CHANGED, ...notes] : notes }),
    });
    texts.push(text);
    if (input.session && tracking) {
      ledger.recordLoad({
        ...input.session,
        at: input.at,
        window: tracking.window,
        promptNumber: tracking.promptCount,
        skill: needed.id,
        hash: needed.hash,
        tokens: estimateTokens(text),
        by: "haversack",
      });
    }
  }
  const text = texts.join("\n\n---\n\n");
  return {
    kind: "loaded",
    id: card.id,
    text,
    hash: card.hash,
    tokens: estimateTokens(text),
    ...(resources && { resources }),
    requires: cards.map(({ id }) => id).filter((id) => id !== card.id),
    hasChanged,
  };
}

const CHANGED = "Changed since it was loaded in this window; this is the new version.";

/** By id; otherwise by the name without the plugin prefix, if that is unique. */
function findCard(name: string, index: LoadIndex): SkillCard | undefined {
  const exact = index.card(name);
  if (exact) return exact;
  const wanted = name.trim().toLowerCase();
  const alike = index
    .listCards()
    .filter(({ id, name: own }) => id.toLowerCase() === wanted || own.toLowerCase() === wanted);
  return alike.length === 1 ? alike[0] : undefined;
}

function unknownSkill(name: string, index: LoadIndex, ruleOnly?: SkillCard): SkillText {
  const catalogue = index.listCards().filter((card) => card.modelInvocable && card.sourceKind !== "rule");
  const ids = catalogue.map(({ id }) => id);
  const names = nearest(name, ids);
  const near = names.map((id) => catalogue.find((card) => card.id === id)!);
  const text = formatUnknownSkill(cleanLine(name, { maxChars: 200 }), near, catalogue);
  const note = ruleOnly ? `\n\nThe rules in ${ruleOnly.sourceLabel} name it, but it has no SKILL.md.` : "";
  return { kind: "unknown", text: text + note, nearest: names };
}

/** A chain of requirements this long is a mistake or an attack. */
const MOST_REQUIRED = 50;

/** The required skills, deepest first, then the skill itself. A cycle or a missing skill is noted, and the rest is still sent. */
function withRequired(card: SkillCard, index: LoadIndex): { cards: SkillCard[]; notes: string[] } {
  const cards = new Map<string, SkillCard>();
  const notes = new Set<string>();
  const visit = (current: SkillCard, path: readonly string[]) => {
    for (const name of current.requires) {
      const needed = findRequired(name, current, index);
      if (!needed) notes.add(`It requires the skill '${name}', which is not installed.`);
      else if (path.includes(needed.id)) {
        notes.add(`Requirement cycle: ${[...path.slice(path.indexOf(needed.id)), needed.id].join(" → ")}.`);
      } else if (path.length > MOST_REQUIRED || cards.size > MOST_REQUIRED) {
        notes.add(`It requires more than ${MOST_REQUIRED} skills; the rest is left out.`);
      } else if (!cards.has(needed.id)) visit(needed, [...path, needed.id]);
    }
    cards.set(current.id, current);
  };
  visit(card, [card.id]);
  return { cards: [...cards.values()], notes: [...notes] };
}

/** A plugin's skill may name other skills of the plugin without its prefix. */
function findRequired(name: string, { id }: SkillCard, index: LoadIndex): SkillCard | undefined {
  const colon = id.lastIndexOf(":");
  const found = (colon === -1 ? undefined : index.card(id.slice(0, colon + 1) + name)) ?? findCard(name, index);
  return found?.sourceKind === "rule" ? undefined : found;
}

// A skill's own files, on disk: listed by kind, read on demand.

/** `cutFrom`: characters of the whole file, when more than were read. */
export type SkillResource = Exclude<ResourceText, { kind: "unknown" }>;

export function listSkillResources(folder: string): SkillResources {
  const { names, total } = listResources(folder, diskFileSystem);
  const pick = (pattern: RegExp) => names.filter((name) => pattern.test(name));
  return {
    reference: pick(/^(?:references?\/|quick-reference\.md$)/),
    assets: pick(/^assets\//),
    scripts: pick(/^scripts\//),
    ...(total > names.length && { omitted: total - names.length }),
  };
}

export function readSkillResource(id: string, path: string, index: LoadIndex): SkillResource {
  const folder = index.card(id)?.folder;
  if (!folder) return { kind: "refused", text: `${id} is a single file and has no resources` };
  const read = readResource(folder, path, diskFileSystem);
  if (read.kind !== "text") return { kind: "refused", text: `${id}: ${path}: ${read.text}` };
  return {
    kind: "text",
    text: stripControl(read.text),
    file: join(folder, path),
    ...(read.cutFrom !== undefined && { cutFrom: read.cutFrom }),
  };
}
