/**
 * From matches to what is shown: held against the ledger of the window, the session's state and the settings. Silence is
 * the default. Decides only; the texts are in disclosure.ts. Loaded by the hook.
 */

import type { Match } from "./combine-matches.ts";
import type { Format } from "./disclosure.ts";
import { isForgotten, type LedgerEntry, type SessionStatus } from "./session.ts";

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
