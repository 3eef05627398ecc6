/**
 * Loads a skill's text for a model or a person: once per window, then a one-line note; the skills it requires first; its
 * resources by name. A version that changed since the window got it comes again, and that is said.
 */
import { cleanLine } from "../base/clean-text.ts";
import { nearest } from "../base/nearest.ts";
import {
  formatAlreadyLoaded,
  formatSkill,
  formatUnknownSkill,
  type SkillResources,
} from "../skills/showing/skill-output.ts";
import type { SkillCard } from "../skills/types.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import type { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import { estimateTokens } from "../tokens/estimate.ts";

export interface LoadInput {
  name: string;
  /** Absent: the window is unknown, and the body always comes. */
  session?: { sessionId: string; agentId?: string };
  reload?: boolean;
  /** Default: true. */
  includeResources?: boolean;
  at: Date;
}

export type LoadedSkill =
  | {
      kind: "loaded";
      id: string;
      text: string;
      hash: string;
      tokens: number;
      resources?: SkillResources;
      requires: string[];
      hasChanged: boolean;
    }
  | { kind: "already-loaded"; id: string; text: string; hash: string }
  | { kind: "unknown"; text: string; nearest: string[] };

export interface LoadParts {
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  listResources(folder: string): SkillResources;
}

export function loadSkill(input: LoadInput, parts: LoadParts): LoadedSkill {
  const { index, ledger } = parts;
  const card = findCard(input.name, index);
  if (!card) return unknownSkill(input.name, index);
  // Its author's rules name it, but there is no text to load.
  if (card.sourceKind === "rule") return unknownSkill(input.name, index, card);

  const tracking = input.session && ledger.tracking(input.session);
  const loadedHash = (id: string) => tracking?.ledger.find(({ skill }) => skill === id)?.loadedHash;
  const before = loadedHash(card.id);
  if (before === card.hash && !input.reload) {
    return { kind: "already-loaded", id: card.id, text: formatAlreadyLoaded(card.id), hash: card.hash };
  }

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
      ...(isMain && {
        notes: [
          ...(before && before !== card.hash
            ? ["Changed since it was loaded in this window; this is the new version."]
            : []),
          ...notes,
        ],
      }),
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
    hasChanged: before !== undefined && before !== card.hash,
  };
}

/** By its id; else by its name without the plugin's, when that is one skill only. */
function findCard(name: string, index: SqliteSkillIndex): SkillCard | undefined {
  const exact = index.card(name);
  if (exact) return exact;
  const wanted = name.trim().toLowerCase();
  const alike = index
    .listCards()
    .filter(({ id, name: own }) => id.toLowerCase() === wanted || own.toLowerCase() === wanted);
  return alike.length === 1 ? alike[0] : undefined;
}

function unknownSkill(name: string, index: SqliteSkillIndex, ruleOnly?: SkillCard): LoadedSkill {
  const catalogue = index.listCards().filter((card) => card.modelInvocable && card.sourceKind !== "rule");
  const names = nearest(
    name,
    catalogue.map(({ id }) => id),
  );
  const near = names.map((id) => catalogue.find((card) => card.id === id)!);
  const text = formatUnknownSkill(cleanLine(name, { maxChars: 200 }), near, catalogue);
  const note = ruleOnly ? `\n\nThe rules in ${ruleOnly.sourceLabel} name it, but it has no SKILL.md.` : "";
  return { kind: "unknown", text: text + note, nearest: names };
}

/** A chain of requirements this long is a mistake or an attack. */
const MOST_REQUIRED = 50;

/** What a skill requires, deepest first, then itself. A cycle or a missing one is said, and the rest still comes. */
function withRequired(card: SkillCard, index: SqliteSkillIndex): { cards: SkillCard[]; notes: string[] } {
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

/** A skill of a plugin may leave out the plugin when it names its neighbours. */
function findRequired(name: string, { id }: SkillCard, index: SqliteSkillIndex): SkillCard | undefined {
  const colon = id.lastIndexOf(":");
  const found = (colon === -1 ? undefined : index.card(id.slice(0, colon + 1) + name)) ?? findCard(name, index);
  return found?.sourceKind === "rule" ? undefined : found;
}
