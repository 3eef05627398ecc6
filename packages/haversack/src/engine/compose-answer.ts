/**
 * Composes an answer: the bodies that are loaded automatically, with the skills they require, and the listing, each within the client's
 * limits. Loaded by the hook.
 */
import { cutAt } from "../base/clean-text.ts";
import type { Match } from "../skills/matching/match-skills.ts";
import {
  activationOf,
  type ClientProfile,
  cutFor,
  searchHint,
  searchWay,
  sizeFor,
} from "../skills/showing/activation.ts";
import {
  briefOf,
  type Decision,
  type Disclosure,
  type Entry,
  type Format,
  firstWords,
  formatFull,
  formatIncremental,
  formatNames,
  type LedgerEntry,
  SILENCE,
} from "../skills/showing/disclosure.ts";
import { withoutOwnTitle } from "../skills/showing/skill-output.ts";
import type { SkillCard } from "../skills/types.ts";
import type { PromptAnswer } from "../store/sqlite/skills/prompt-ledger.ts";
import { estimateTokens } from "../tokens/estimate.ts";

/** What an answer needs to know about the installed skills. */
export interface AnswerIndex {
  body(hash: string): string | undefined;
  /** Counts skills with a file, not those that only a rule names. */
  readonly installed: number;
  cardsNamed(ids: readonly string[]): SkillCard[];
  /** At most `limit`, sorted by name. */
  names(limit: number): string[];
}

export interface Answer extends Disclosure {
  fresh: Match[];
  names: Match[];
  known: Match[];
  loaded: { match: Match; text: string; tokens: number }[];
}

/** For a request for skills without a subject, or with one that nothing matches: all names if they are few. */
function catalogue(index: AnswerIndex, client: ClientProfile, hasSubject: boolean): string {
  if (index.installed === 0) return searchHint(0, client);
  const names = index.installed <= MOST_NAMES ? index.names(MOST_NAMES) : [];
  const list = names.length > 0 ? `Installed: ${names.join(", ")}.` : searchHint(index.installed, client);
  return hasSubject || names.length === 0 ? `None stands out for this. ${list}` : list;
}

const MOST_NAMES = 20;

/** Adds the skills that a body requires before it, unless the window has them. */
export function withRequired(decision: Decision, ledger: readonly LedgerEntry[], index: AnswerIndex): Decision {
  const autoLoad: Decision["autoLoad"] = [];
  const seen = new Set(decision.autoLoad.map(({ match }) => match.card.id));
  const visit = (card: SkillCard, depth: number) => {
    if (card.requires.length === 0 || depth > 4) return;
    for (const needed of index.cardsNamed(card.requires)) {
      const isThere = ledger.some(({ skill, loadedHash }) => skill === needed.id && loadedHash === needed.hash);
      if (seen.has(needed.id) || isThere) continue;
      seen.add(needed.id);
      visit(needed, depth + 1);
      const match = { card: needed, confidence: 1, named: false, reasons: [], parts: NO_PARTS };
      autoLoad.push({ match, because: `required by ${card.id}` });
    }
  };
  for (const entry of decision.autoLoad) {
    visit(entry.match.card, 0);
    const missing = entry.match.card.requires.filter((id) => !index.cardsNamed([id])[0]);
    const note = missing.length > 0 ? `; it requires ${missing.join(", ")}, which is not installed` : "";
    autoLoad.push({ ...entry, because: entry.because + note });
  }
  return { ...decision, autoLoad };
}

const NO_PARTS: Match["parts"] = { keyword: 0, synonym: 0, intent: 0, file: 0, context: 0, score: 0 };

const NAME = "haversack";
/** Tells people where the text comes from. The search hint of a window's first text does so already. */
const SIGNATURE = `(${NAME})`;

export function composeAnswer(
  { format, fresh, names, known, autoLoad, verdicts }: Decision,
  {
    client,
    index,
    request,
    isFirst,
  }: {
    client: ClientProfile;
    index: AnswerIndex;
    /** The user asks for skills, with or without a subject. */
    request?: { hasSubject: boolean } | undefined;
    isFirst: boolean;
  },
): Answer {
  const isMore =
    isFirst && !client.isFileOnly && fresh.length + names.length > 0 && index.installed > fresh.length + names.length;
  const hint = isMore ? { searchHint: `More: ${searchWay(client)}` } : {};
  let room = client.maxChars - SIGNATURE.length - GAP;
  // A requested body matters more than other skills that might fit.
  const listing = fitListing(
    { format, fresh, names, known, ...hint },
    { client, room: autoLoad.length > 0 ? Math.floor(room / 2) : room },
  );
  const listed = new Set([...listing.fresh, ...listing.names, ...listing.known]);
  for (const match of [...fresh, ...names, ...known]) {
    if (!listed.has(match)) verdicts.set(match.card.id, NO_ROOM);
  }
  const shown =
    request && listing.format === "none" && autoLoad.length === 0
      ? { format: "names" as const, text: `# Skills Available\n\n${catalogue(index, client, request.hasSubject)}` }
      : listing;
  if (shown.text) room -= sizeFor(client, shown.text) + GAP;

  // Shortest first: the room that a short body leaves goes to the longer ones.
  const wanted = autoLoad.map((entry) => ({ ...entry, body: index.body(entry.match.card.hash) ?? "" }));
  const texts = new Map<Match, string>();
  let left = wanted.length;
  for (const { match, because, body } of [...wanted].sort((a, b) => a.body.length - b.body.length)) {
    const text = autoLoadedText(match, because, { client, body, room: Math.floor(room / left--) - GAP });
    if (text === undefined) verdicts.set(match.card.id, NO_ROOM);
    else {
      room -= sizeFor(client, text) + GAP;
      texts.set(match, text);
    }
  }
  const loaded = wanted.flatMap(({ match }) => {
    const text = texts.get(match);
    return text === undefined ? [] : [{ match, text, tokens: estimateTokens(text) }];
  });
  const blocks = [...loaded.map(({ text }) => text), ...(shown.text ? [shown.text] : [])];
  const isSigned = hint.searchHint?.includes(NAME) === true && shown.text.endsWith(hint.searchHint);
  const parts = { fresh: listing.fresh, names: listing.names, known: listing.known, loaded };
  if (blocks.length === 0) return { ...SILENCE, ...parts };
  return {
    format: shown.format === "none" ? "full" : shown.format,
    text: (isSigned ? blocks : [...blocks, SIGNATURE]).join("\n\n"),
    ...parts,
  };
}

/** Characters between two blocks. */
const GAP = 2;

const NO_ROOM = "left out: no room for it in this client";

/** The listing with as many skills as fit, best first: cards, then candidates, then those that the window knows. */
function fitListing(
  {
    format: kind,
    fresh,
    names,
    known,
    ...rest
  }: { format: Format; fresh: readonly Match[]; names: readonly Match[]; known: readonly Match[]; searchHint?: string },
  { client, room }: { client: ClientProfile; room: number },
): Disclosure & { fresh: Match[]; names: Match[]; known: Match[] } {
  const toEntry = (match: Match) => entryOf(match, client);
  const all = [...fresh, ...names, ...known];
  for (let count = all.length; count > 0; count--) {
    const kept = new Set(all.slice(0, count));
    const some = {
      fresh: fresh.filter((match) => kept.has(match)),
      names: names.filter((match) => kept.has(match)),
      known: known.filter((match) => kept.has(match)),
    };
    const listing = format(some.known.length === 0 && kind === "incremental" ? "full" : kind, {
      fresh: some.fresh.map(toEntry),
      names: some.names.map(toEntry),
      known: some.known.map(toEntry),
      ...rest,
    });
    if (sizeFor(client, listing.text) <= room) return { ...listing, ...some };
  }
  return { ...SILENCE, fresh: [], names: [], known: [] };
}

/** The cost of the listing per skill: a repeated name costs its own words, a brief costs its share of the rest. */
export function listingCosts(
  { format: kind, fresh, names, known, loaded }: Answer,
  tokens: number,
): Pick<PromptAnswer, "shown" | "named"> {
  const listing = Math.max(0, tokens - loaded.reduce((sum, entry) => sum + entry.tokens, 0));
  const share = (total: number, count: number) => Math.round(Math.max(0, total) / Math.max(1, count));
  const named = [...names, ...known].map(({ card }) => ({
    skill: card.id,
    tokens: kind === "names" ? share(listing, names.length + known.length) : estimateTokens(card.id) + 2,
  }));
  const rest = listing - named.reduce((sum, entry) => sum + entry.tokens, 0);
  return { named, shown: fresh.map(({ card }) => ({ skill: card.id, tokens: share(rest, fresh.length) })) };
}

function format(kind: Format, input: Parameters<typeof formatFull>[0]): Disclosure {
  if (kind === "full") return formatFull(input);
  if (kind === "incremental") return formatIncremental(input);
  return kind === "names" ? formatNames(input) : SILENCE;
}

function entryOf({ card }: Match, client: ClientProfile): Entry {
  const { rule } = card;
  const notice =
    rule?.blockMessage ??
    (rule?.enforcement === "block" || rule?.enforcement === "require"
      ? "its author requires it for work like this"
      : undefined);
  return {
    id: card.id,
    ...(rule?.priority && { priority: rule.priority }),
    // Others wrote this text: a brief may be pages long.
    brief: firstWords(briefOf(rule?.brief ?? card.brief, LONGEST_BRIEF), BRIEF_WORDS),
    activation: activationOf(card, client),
    ...(notice && rule?.enforcement !== "suggest" && { notice: shortened(notice, LONGEST_NOTICE) }),
  };
}

const LONGEST_BRIEF = 300;
const BRIEF_WORDS = 9;
const LONGEST_NOTICE = 600;

function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutAt(text, maxChars - 1).trimEnd()}…`;
}

/** The body; if it does not fit, cut at a heading, with the place of the rest. */
function autoLoadedText(
  { card }: Match,
  because: string,
  { client, body, room }: { client: ClientProfile; body: string; room: number },
): string | undefined {
  const head = `## AUTO-LOADED SKILL: ${card.id} (${because})\n\n`;
  const resources = card.folder ? `\n\nIts files are in ${card.folder}` : "";
  const text = withoutOwnTitle(body.trim(), card.id);
  const whole = head + text + resources;
  if (sizeFor(client, whole) <= room) return whole;
  const rest = `\n\n${CUT} ${activationOf(card, client)}]`;
  const space = room - sizeFor(client, head + rest + FENCE);
  if (space < 200) return undefined;
  const cut = cutFor(client, text, space);
  const end = ["\n#", "\n", " "].map((mark) => cut.lastIndexOf(mark)).find((at) => at > cut.length / 2) ?? cut.length;
  const kept = cut.slice(0, end).trimEnd();
  const isInCode = (kept.match(/^\s*```/gm) ?? []).length % 2 === 1;
  return head + kept + (isInCode ? FENCE : "") + rest;
}

const FENCE = "\n```";
/** Marks every body that was cut. */
export const CUT = "[cut to fit; the rest:";
