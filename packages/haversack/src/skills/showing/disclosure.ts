/**
 * The text a prompt brings: full, incremental, names, or nothing. Headings and structure are those of the design
 * this grew from; one line asks the model to decide per skill, because a plain suggestion is followed one time in
 * five and a YES/NO decision four times in five (200 tests on one model, docs/skills.md).
 */
import { cutAt } from "../../base/clean-text.ts";
import type { Match } from "../matching/match-skills.ts";
import type { Priority } from "../types.ts";
import { isForgotten, type LedgerEntry, type SessionStatus } from "./session.ts";

export type Format = "full" | "incremental" | "names" | "none";

export interface Entry {
  id: string;
  /** Only where a rule sets one. */
  priority?: Priority;
  /** One line: the short description, else the beginning of the description. */
  brief: string;
  /** What the model must do to load it, in this client, for this skill. */
  activation: string;
  /** A rule's own message (warn, block, require). */
  notice?: string;
}

export interface DisclosureInput {
  fresh: readonly Entry[];
  known: readonly Entry[];
  /** How to search the rest, in this client; left out when everything installed is on the list. */
  searchHint?: string;
}

export interface Disclosure {
  format: Format;
  text: string;
}

export const ICONS: Record<Priority, string> = { critical: "🔴", high: "🟠", medium: "🟡", low: "🟢" };

export function formatFull({ fresh, searchHint }: DisclosureInput): Disclosure {
  const text = [
    "# Skill Recommendations",
    "",
    `${fresh.length > 1 ? `${DECIDE} each skill: does` : "Does"} the task need it? YES: activate it first. NO: go on without.`,
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    ...(searchHint ? ["## Using Skills", "", searchHint] : []),
  ];
  return { format: "full", text: text.join("\n").trimEnd() };
}

export function formatIncremental({ fresh, known }: DisclosureInput): Disclosure {
  const text = [
    "# New Skills Available",
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    `Previously recommended: ${formatNameList(known)}`,
    "",
    `${DECIDE} each: YES or NO; activate every YES first.`,
  ];
  return { format: "incremental", text: text.join("\n") };
}

export function formatNames({ known }: DisclosureInput): Disclosure {
  return { format: "names", text: `# Skills Available\n\n${formatNameList(known)}\n\n${howToActivate(known)}` };
}

/** One line for all where it is the same for all, else one for each: a line that does not work is worse than none. */
function howToActivate(entries: readonly Entry[]): string {
  const [first] = entries;
  const general = new Set(entries.map(({ id, activation }) => withPlaceholder(activation, id)));
  const [line] = general;
  if (entries.length > 1 && general.size === 1 && line) return `Use ${line} to activate.`;
  if (entries.length === 1) {
    const { activation } = first!;
    // `Read /…/SKILL.md` is no tool call but a sentence.
    return activation.startsWith(READ) ? `To activate: r${activation.slice(1)}` : `Use ${activation} to activate.`;
  }
  return entries.map(({ id, activation }) => `To activate ${id}: ${activation}`).join("\n");
}

const READ = "Read ";

/** `Skill(skill: "pdf")` → `Skill(skill: "name")`, `… show pdf` → `… show name`. Undefined for what has no such place. */
function withPlaceholder(activation: string, id: string): string | undefined {
  const quoted = `"${id}"`;
  const at = activation.lastIndexOf(quoted);
  if (at !== -1) return `${activation.slice(0, at)}"name"${activation.slice(at + quoted.length)}`;
  return activation.endsWith(` ${id}`) ? `${activation.slice(0, -id.length)}name` : undefined;
}

export const SILENCE: Disclosure = { format: "none", text: "" };

/** The beginning of a description, cut at a sentence or word. */
export function briefOf(description: string, maxLength = 160): string {
  const line = isOneLine(description) ? description : description.replace(/\s+/g, " ").trim();
  if (line.length <= maxLength) return line;
  const sentence = /^.{40,}?[.!?](?= )/.exec(line.slice(0, maxLength))?.[0];
  if (sentence) return sentence;
  // Chinese and Japanese have no spaces to cut at.
  const space = line.lastIndexOf(" ", maxLength - 1);
  const start = space > maxLength / 2 ? line.slice(0, space) : cutAt(line, maxLength - 1);
  return `${start.replace(/[,;:.]$/, "")}…`;
}

/** Printable ASCII without double spaces, as most are when they come from the index: no pattern is made for them. */
function isOneLine(text: string): boolean {
  let before = 32;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || code > 126 || (code === 32 && before === 32)) return false;
    before = code;
  }
  return before !== 32;
}

const DECIDE = "Decide for";

function formatEntry({ id, priority, brief, activation, notice }: Entry): string[] {
  return [
    priority ? `## ${ICONS[priority]} ${id} (${priority} priority)` : `## ${id}`,
    ...(brief ? [`Brief: ${brief}`] : []),
    ...(notice ? [`Note: ${notice}`] : []),
    `Activate: ${activation}`,
  ];
}

function formatNameList(entries: readonly Entry[]): string {
  return entries.map(({ id, priority }) => (priority ? `${ICONS[priority]} ${id}` : id)).join(", ");
}

// From matches to what is shown: held against the ledger of the window, the session's state and the settings. Silence is
// the default. Decides only.

export interface DisclosureSettings {
  maxSkills: number;
  recommendThreshold: number;
  autoLoadThreshold: number;
  autoLoad: "asked" | "confident";
  enforce: boolean;
  forgetAfterPrompts: number;
}

export interface Decision {
  format: Format;
  /** Shown with their brief. */
  fresh: Match[];
  /** Shown by name alone. */
  known: Match[];
  /** Their bodies come with this prompt, with the reason. */
  autoLoad: { match: Match; because: string }[];
  /** For `why`: per skill what became of it. */
  verdicts: Map<string, string>;
}

export function decideDisclosure(
  matches: readonly Match[],
  {
    ledger,
    status,
    isExplicit,
    isForced = false,
    promptNumber,
    settings,
  }: {
    ledger: readonly LedgerEntry[];
    status: SessionStatus;
    /** The user asks for skills. */
    isExplicit: boolean;
    /** Show everything with its brief, whatever the window has. Default: false. */
    isForced?: boolean;
    promptNumber: number;
    settings: DisclosureSettings;
  },
): Decision {
  const verdicts = new Map<string, string>();
  const entries = new Map(ledger.map((entry) => [entry.skill, entry]));
  const isAnew = status === "new" || status === "idle" || isForced;
  const isKnown = (id: string) => !isAnew && entries.has(id);
  const wanted = pickWanted(matches, { isExplicit, isKnown, settings, verdicts });
  const decision: Decision = { format: "none", fresh: [], known: [], autoLoad: [], verdicts };

  for (const match of wanted) {
    const { id, hash } = match.card;
    const entry = entries.get(id);
    if (entry?.loadedHash === hash) {
      if (isExplicit) decision.known.push(match);
      else verdicts.set(id, "silent: the window has its body");
      continue;
    }
    const because = autoLoadReason(match, settings);
    if (because) {
      decision.autoLoad.push({ match, because });
      verdicts.set(id, `loaded: ${because}`);
      continue;
    }
    const isFresh =
      isAnew || !entry || isForgotten(entry, { promptNumber, forgetAfterPrompts: settings.forgetAfterPrompts });
    decision[isFresh ? "fresh" : "known"].push(match);
  }

  const { fresh, known } = decision;
  if (fresh.length > 0) {
    decision.format = known.length > 0 && (status === "continue" || isExplicit) ? "incremental" : "full";
    // After a change of domain the window still holds what it was shown: only the new comes.
    if (decision.format === "full") decision.known = [];
  } else if (known.length > 0 && isExplicit) {
    // The window has their briefs or bodies; whoever asks for skills is told which of them fit.
    decision.format = "names";
  } else {
    decision.known = [];
  }
  for (const { card } of decision.fresh) verdicts.set(card.id, `shown (${decision.format})`);
  for (const { card } of known) {
    verdicts.set(
      card.id,
      decision.known.length > 0 ? "shown by name: the window has its brief" : "silent: the window has its brief",
    );
  }
  return decision;
}

/** Below this a match is an accident, even for somebody who asks. */
const ASKED_THRESHOLD = 0.03;

function pickWanted(
  matches: readonly Match[],
  {
    isExplicit,
    isKnown,
    settings,
    verdicts,
  }: {
    isExplicit: boolean;
    isKnown(id: string): boolean;
    settings: DisclosureSettings;
    verdicts: Map<string, string>;
  },
): Match[] {
  const wanted: Match[] = [];
  let count = 0;
  for (const match of matches) {
    const { card, confidence, excluded } = match;
    const threshold = card.rule?.threshold ?? settings.recommendThreshold;
    if (excluded) verdicts.set(card.id, `left out: ${excluded}`);
    // Who asks for skills gets the best there are, sure or not.
    else if (confidence < (isExplicit ? Math.min(threshold, ASKED_THRESHOLD) : threshold))
      verdicts.set(card.id, `below the threshold of ${threshold}`);
    // Who asks is told of all that fit; what the window knows costs no more than a name.
    else if (isExplicit && confidence >= threshold && isKnown(card.id)) wanted.push(match);
    else if (count >= settings.maxSkills) verdicts.set(card.id, `left out: at most ${settings.maxSkills} a prompt`);
    else {
      wanted.push(match);
      count++;
    }
  }
  return wanted;
}

/** What a rule says of itself, as against the words of the skill. */
const RULE_FEATURES = new Set(["keyword", "synonym", "intent", "file", "content", "always"]);

function autoLoadReason({ card, confidence, named, reasons }: Match, settings: DisclosureSettings): string | undefined {
  if (card.sourceKind === "rule") return undefined;
  if (named) return "the prompt names it";
  // An explicit request lists weak matches too; their bodies stay where they are.
  if (confidence < (card.rule?.threshold ?? settings.recommendThreshold)) return undefined;
  const enforcement = card.rule?.enforcement;
  // The author's auto is meant for what the rule names; words that merely resemble the skill only recommend it.
  const isByRule = !card.rule?.hasTriggers || reasons.some(({ feature }) => RULE_FEATURES.has(feature));
  if (enforcement === "auto" && isByRule) return "its rule says auto";
  const isEnforced = settings.enforce && !card.rule?.isUnaccepted;
  if (isEnforced && (enforcement === "block" || enforcement === "require")) return `its rule says ${enforcement}`;
  const threshold = card.loadConfidence ?? settings.autoLoadThreshold;
  if (settings.autoLoad === "confident" && confidence >= threshold) return `confidence ${confidence.toFixed(2)}`;
  return undefined;
}
