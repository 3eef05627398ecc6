/**
 * The text shown with a prompt: full, incremental, names, or nothing. Headings and structure come from the design this grew from. One line
 * asks the model to decide per skill, because a plain suggestion is followed one time in five and a YES/NO decision four times in five
 * (200 tests on one model, docs/explanation/skills.md).
 */
import { cutAt } from "../../base/clean-text.ts";
import { leastBeside, type Match, MOST_NAMES, type Tier, tiersOf } from "../matching/match-skills.ts";
import { NAME_CONFIDENCE } from "../matching/score-text.ts";
import type { Priority } from "../types.ts";

export type Format = "full" | "incremental" | "names" | "none";

export interface Entry {
  id: string;
  /** Only if a rule sets one. */
  priority?: Priority;
  /** One line: the short description, or the beginning of the description. */
  brief: string;
  /** How the model loads this skill in this client. */
  activation: string;
  /** A rule's own message (warn, block, require). */
  notice?: string;
}

export interface DisclosureInput {
  fresh: readonly Entry[];
  /** Candidates, shown by name with a few words each. */
  names?: readonly Entry[];
  known: readonly Entry[];
  /** How to search other skills in this client; absent if all installed skills are listed. */
  searchHint?: string;
}

export interface Disclosure {
  format: Format;
  text: string;
}

export const ICONS: Record<Priority, string> = { critical: "🔴", high: "🟠", medium: "🟡", low: "🟢" };

export function formatFull({ fresh, names = [], searchHint }: DisclosureInput): Disclosure {
  const text = [
    "# Skill Recommendations",
    "",
    `${fresh.length > 1 ? `${DECIDE} each skill: needed?` : "Needed?"} YES: activate it first. NO: go on.`,
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    ...formatGists(names, fresh),
    ...(searchHint ? [searchHint] : []),
  ];
  return { format: "full", text: text.join("\n").trimEnd() };
}

export function formatIncremental({ fresh, names = [], known }: DisclosureInput): Disclosure {
  const text = [
    "# New Skills Available",
    "",
    ...fresh.flatMap((entry) => [...formatEntry(entry), ""]),
    ...formatGists(names, fresh),
    `Previously recommended: ${formatNameList(known)}`,
    "",
    `${DECIDE} each: YES or NO; activate every YES first.`,
  ];
  return { format: "incremental", text: text.join("\n") };
}

/** Only names: known skills, for a user who asks; or candidates with a few words each. */
export function formatNames({ names = [], known, searchHint }: DisclosureInput): Disclosure {
  const all = [...names, ...known];
  const text = [
    "# Skills Available",
    "",
    ...(names.length > 0 ? [names.length > 1 ? `${DECIDE} each: needed?` : "Needed?", ...gistLines(names, false)] : []),
    ...(known.length > 0 ? [formatNameList(known)] : []),
    "",
    howToActivate(all),
    ...(searchHint ? [searchHint] : []),
  ];
  return { format: "names", text: text.join("\n") };
}

/** Below the cards. Says how to load them if that differs from the cards. */
function formatGists(names: readonly Entry[], cards: readonly Entry[]): string[] {
  if (names.length === 0) return [];
  const ways = new Set([...cards, ...names].map(({ id, activation }) => withPlaceholder(activation, id)));
  return [
    "Perhaps:",
    ...gistLines(names, true),
    ...(ways.size === 1 && !ways.has(undefined) ? [] : [howToActivate(names)]),
  ];
}

/** The more names, the fewer words: one card and five names stay within 120 tokens. Beside a card a name is a second thought. */
function gistLines(names: readonly Entry[], isBesideCard: boolean): string[] {
  const words = names.length > 3 ? 4 : isBesideCard || names.length > 1 ? 5 : 10;
  return names.map(({ id, brief }) => (brief === "" ? id : `${id}: ${firstWords(brief, words)}`));
}

/** Cut at the end of a sentence, else of a clause, else at a word without a dangling end. */
export function firstWords(text: string, most: number): string {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length <= most) return text.trim();
  const kept = words.slice(0, wholeWords(words, most));
  while (kept.length > 2 && DANGLING.includes(kept.at(-1)!.toLowerCase())) kept.pop();
  const cut = kept.join(" ");
  return ",;:.(–—-".includes(cut.at(-1)!) ? cut.replace(/[\s,;:.(–—-]+$/, "") : cut;
}

// biome-ignore format: a list of words.
const DANGLING = ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "when", "use"];

/** How many words to keep. A sentence goes before a longer clause: the beginning of the next one would dangle. */
function wholeWords(words: readonly string[], most: number): number {
  let sentence = 0;
  let clause = 0;
  let depth = 0;
  for (let count = 1; count <= most; count++) {
    const [word, next] = [words[count - 1]!, words[count]!];
    depth += word.split("(").length - word.split(")").length;
    if (depth > 0) continue;
    const end = word.at(-1)!;
    // Most words end in a letter, which takes no pattern: a new process has to compile it.
    const isSentence =
      ".!?…\"')]".includes(end) &&
      /[.!?…]["')\]]*$/.test(word) &&
      !startsSmall(next) &&
      !/^\W?(?:e\.g|i\.e|vs|\p{L})\.$/iu.test(word);
    if (isSentence && count >= LEAST_SENTENCE) sentence = count;
    else if (count >= LEAST_CLAUSE && (",;:)–—".includes(end) || "(–—".includes(next[0]!))) clause = count;
  }
  return sentence || clause || most;
}

/** A class of all small letters takes a new process milliseconds to compile. */
function startsSmall(word: string): boolean {
  const code = word.charCodeAt(0);
  return code < 128 ? code >= 97 && code <= 122 : /^\p{Ll}/u.test(word);
}

/** Fewer words say too little. */
const LEAST_SENTENCE = 3;
const LEAST_CLAUSE = 4;

/** One line if it is the same for all, otherwise one each: an instruction that does not work is worse than none. */
function howToActivate(entries: readonly Entry[]): string {
  const [first] = entries;
  const general = new Set(entries.map(({ id, activation }) => withPlaceholder(activation, id)));
  const [line] = general;
  if (entries.length > 1 && general.size === 1 && line) return `Use ${line} to activate.`;
  if (entries.length === 1) {
    const { activation } = first!;
    // `Read /…/SKILL.md` is a sentence, not a tool call.
    return activation.startsWith(READ) ? `To activate: r${activation.slice(1)}` : `Use ${activation} to activate.`;
  }
  return entries.map(({ id, activation }) => `To activate ${id}: ${activation}`).join("\n");
}

const READ = "Read ";

/** `Skill(skill: "pdf")` → `Skill(skill: "name")`, `… show pdf` → `… show name`. Undefined if it does not contain the ID that way. */
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

/** Printable ASCII without double spaces, as most descriptions in the index are: they need no pattern. */
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

// Turns matches into what is shown, using the window's ledger, the session's state and the settings. Silence is the default. Does no I/O.

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
  /** Shown as cards. */
  fresh: Match[];
  /** Candidates, shown by name with a few words. */
  names: Match[];
  /** Shown by name alone. */
  known: Match[];
  /** Skills whose bodies are loaded with this prompt, and why. */
  autoLoad: { match: Match; because: string }[];
  /** For `why`: what happened to each skill. */
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
    /** Show everything with its brief, even if the window has it. Default: false. */
    isForced?: boolean;
    promptNumber: number;
    settings: DisclosureSettings;
  },
): Decision {
  const verdicts = new Map<string, string>();
  const entries = new Map(ledger.map((entry) => [entry.skill, entry]));
  const isAnew = status === "new" || status === "idle" || isForced;
  const isKnown = (id: string) => !isAnew && entries.has(id);
  const tiers = tiersOf(matches, settings);
  const wanted = pickWanted(matches, { tiers, isExplicit, isKnown, settings, verdicts });
  const decision: Decision = { format: "none", fresh: [], names: [], known: [], autoLoad: [], verdicts };

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
    const isCard = isExplicit || tiers[matches.indexOf(match)] === "card";
    const isForgottenNow =
      !entry || isForgotten(entry, { promptNumber, forgetAfterPrompts: settings.forgetAfterPrompts });
    if (!isCard) {
      if (isAnew || isForgottenNow) decision.names.push(match);
      else verdicts.set(id, "silent: the window has its name");
      continue;
    }
    // A skill so far shown only by name gets a card once its confidence is high enough.
    const isFresh = isAnew || isForgottenNow || entry.isNamedOnly === true;
    decision[isFresh ? "fresh" : "known"].push(match);
  }

  const { fresh, names, known } = decision;
  if (fresh.length > 0) {
    decision.format = known.length > 0 && (status === "continue" || isExplicit) ? "incremental" : "full";
    // After a change of domain, the window still has what it was shown, so show only new skills.
    if (decision.format === "full") decision.known = [];
  } else if (names.length > 0 && known.length === 0) {
    decision.format = "names";
  } else if (names.length > 0) {
    // The window has a card of a better candidate; more names would only distract.
    for (const { card } of names) verdicts.set(card.id, "left out: the window has a card of a better one");
    decision.names = [];
    decision.known = [];
  } else if (known.length > 0 && isExplicit) {
    // The window has their briefs or bodies. A user who asks for skills is told which of them fit.
    decision.format = "names";
  } else {
    decision.known = [];
  }
  for (const { card } of decision.fresh) verdicts.set(card.id, `shown (${decision.format})`);
  for (const { card } of decision.names) verdicts.set(card.id, "shown by name");
  for (const { card } of known) {
    verdicts.set(
      card.id,
      decision.known.length > 0 ? "shown by name: the window has its brief" : "silent: the window has its brief",
    );
  }
  return decision;
}

/** Below this a match is an accident, even if the user asks for skills. */
const ASKED_THRESHOLD = 0.03;

function pickWanted(
  matches: readonly Match[],
  {
    tiers,
    isExplicit,
    isKnown,
    settings,
    verdicts,
  }: {
    tiers: readonly (Tier | undefined)[];
    isExplicit: boolean;
    isKnown(id: string): boolean;
    settings: DisclosureSettings;
    verdicts: Map<string, string>;
  },
): Match[] {
  const wanted: Match[] = [];
  const beside = leastBeside(matches);
  let count = 0;
  for (const [at, match] of matches.entries()) {
    const { card, confidence, excluded } = match;
    const tier = tiers[at];
    const threshold = card.rule?.threshold ?? settings.recommendThreshold;
    if (excluded) verdicts.set(card.id, `left out: ${excluded}`);
    else if (!isExplicit) {
      if (tier) wanted.push(match);
      else if (confidence >= threshold) verdicts.set(card.id, `left out: at most ${settings.maxSkills} a prompt`);
      else if (confidence >= NAME_CONFIDENCE && confidence < beside)
        verdicts.set(card.id, "left out: another skill is far more likely");
      else if (confidence >= NAME_CONFIDENCE) verdicts.set(card.id, `left out: at most ${MOST_NAMES} names a prompt`);
      else verdicts.set(card.id, belowLimit(Math.min(threshold, NAME_CONFIDENCE), "for a name"));
    }
    // A user who asks for skills gets the best matches, even uncertain ones.
    else if (confidence < Math.min(threshold, ASKED_THRESHOLD))
      verdicts.set(card.id, belowLimit(Math.min(threshold, ASKED_THRESHOLD), "when asked for skills"));
    // A user who asks is told about all that fit; a skill the window knows costs only a name.
    else if (confidence >= threshold && isKnown(card.id)) wanted.push(match);
    else if (count >= settings.maxSkills) verdicts.set(card.id, `left out: at most ${settings.maxSkills} a prompt`);
    else {
      wanted.push(match);
      count++;
    }
  }
  return wanted;
}

/** The lowest limit: a skill that reaches it is at least shown by name. With two digits, like the confidence beside it. */
function belowLimit(limit: number, what: string): string {
  return `below ${Number(limit.toFixed(2))}, the threshold ${what}`;
}

/** Evidence from a rule's own triggers, not from the skill's words. */
const RULE_FEATURES = new Set(["keyword", "synonym", "intent", "file", "content", "always"]);

function autoLoadReason({ card, confidence, named, reasons }: Match, settings: DisclosureSettings): string | undefined {
  if (card.sourceKind === "rule") return undefined;
  if (named) return "the prompt names it";
  // An explicit request also lists weak matches, but does not load their bodies.
  if (confidence < (card.rule?.threshold ?? settings.recommendThreshold)) return undefined;
  const enforcement = card.rule?.enforcement;
  // The author's `auto` applies to the rule's triggers. If only the skill's words match, the skill is just recommended.
  const isByRule = !card.rule?.hasTriggers || reasons.some(({ feature }) => RULE_FEATURES.has(feature));
  if (enforcement === "auto" && isByRule) return "its rule says auto";
  const isEnforced = settings.enforce && !card.rule?.isUnaccepted;
  if (isEnforced && (enforcement === "block" || enforcement === "require")) return `its rule says ${enforcement}`;
  const threshold = card.loadConfidence ?? settings.autoLoadThreshold;
  if (settings.autoLoad === "confident" && confidence >= threshold) return `confidence ${confidence.toFixed(2)}`;
  return undefined;
}

// What is new in a session, when its domain has changed, and what is forgotten. The store keeps the rows.

export interface DiscoverSettings extends DisclosureSettings {
  idleMinutes: number;
  /** Skills that were used when shown rank higher, ignored ones lower. */
  isLearning: boolean;
}

/** new: first prompt of a window. idle: first prompt after a long pause. Both get the full format. */
export type SessionStatus = "new" | "idle" | "domain-switch" | "continue";

export interface Tracking {
  /** Prompts already counted in this session. */
  promptCount: number;
  /** None of these prompts was in this window. Default: false. */
  isNewWindow?: boolean;
  lastPromptAt?: string;
  domainHistory: readonly string[];
}

export const MAX_DOMAINS = 100;

export function sessionStatus(
  { promptCount, isNewWindow = false, lastPromptAt, domainHistory }: Tracking,
  { now, domain, idleMinutes }: { now: Date; domain?: string | undefined; idleMinutes: number },
): SessionStatus {
  if (promptCount === 0 || isNewWindow || !lastPromptAt) return "new";
  const idleMs = now.getTime() - Date.parse(lastPromptAt);
  // An unreadable time counts as a new session, like an absent one.
  if (!(idleMs <= idleMinutes * 60_000)) return "idle";
  const last = domainHistory.at(-1);
  return domain && last && domain !== last ? "domain-switch" : "continue";
}

/** Appends the domain if it differs from the last one, so A, B, A shows both switches. */
export function withDomain(history: readonly string[], domain: string | undefined): string[] {
  const next = domain && history.at(-1) !== domain ? [...history, domain] : [...history];
  return next.slice(-MAX_DOMAINS);
}

/** What this window's ledger knows about one skill. */
export interface LedgerEntry {
  skill: string;
  /** The number of the prompt that showed its brief or loaded it. */
  shownAtPrompt: number;
  /** The version whose body the model has, if it was loaded. */
  loadedHash?: string;
  /** The window has its name and a few words, but no card. */
  isNamedOnly?: boolean;
}

export function isForgotten(
  entry: LedgerEntry,
  { promptNumber, forgetAfterPrompts }: { promptNumber: number; forgetAfterPrompts: number },
): boolean {
  return forgetAfterPrompts > 0 && promptNumber - entry.shownAtPrompt > forgetAfterPrompts;
}

/**
 * "Which skills do you have?", "recommend a skill": the user asks for skills, so the ledger does not suppress the answer. A prompt that only
 * mentions skills ("improve my writing skills", "add a skills table") is not such a request.
 */
export function isExplicitRequest(prompt: string): boolean {
  if (prompt.length > 400) return false;
  const lower = prompt.toLowerCase();
  if (!lower.includes("skill") && !lower.includes("recommend")) return false;
  return EXPLICIT_REQUESTS.some((pattern) => pattern.test(prompt));
}

/** "Which skills do you have?", "list all skills": wants the list, not what fits the work. For requests without a topic. */
export function asksForList(request: string): boolean {
  return (
    /\b(?:list|all|have|installed|available)\b/i.test(request) && !/\b(?:this|here|should|could|use)\b/i.test(request)
  );
}

/** The topic of such a request: the prompt without the words of asking. */
export function requestTopic(prompt: string): string {
  return prompt.replace(
    /\b(?:which|what|are there|is there|do you have|have you got|any|all|list|show|find|suggest|recommend|search|give|tell|me|your|my|the|an?|some|other|good|best|right|suitable|available|installed|relevant|matching|skills?|could|can|would|should|help|here|for|with|this|have|do|you|i|use)\b/gi,
    " ",
  );
}

const EXPLICIT_REQUESTS: readonly RegExp[] = [
  /\b(?:which|what) (?:\w+ ){0,2}skills?\b(?! (?:level|set|gap|table|column|test|file|matrix|tree|page|model|field))/i,
  /\b(?:list|show|find|suggest|recommend|search|give)\b(?: me)?(?: (?:all|the|your|my|any|an?|some|other|good|best|right|suitable|available|installed|relevant|matching)){0,3} skills?\b(?! (?:level|set|gap|table|column|test|file|matrix|tree|page|model|field))/i,
  /\b(?:are there|do you have|have you got|is there)(?: \w+){0,2} skills?\b/i,
  /\bskills? (?:recommendations?|suggestions?|discovery)\b/i,
  /\bforce ?recommend\b/i,
];
