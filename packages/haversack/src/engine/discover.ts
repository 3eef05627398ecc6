/**
 * A prompt comes in: which skills fit, what of them the model has not seen in this window, and the text that brings just
 * that. One transaction records what was shown and why. Loaded by the hook.
 */
import { cutAt, stripControl } from "../base/clean-text.ts";
import type { Config } from "../base/config-schema.ts";
import { activationOf, type ClientProfile, searchHint } from "../skills/activation.ts";
import {
  combineMatches,
  type Match,
  type MatchIndex,
  type Reason,
  type RuleMatcher,
} from "../skills/combine-matches.ts";
import { type Decision, type DisclosureSettings, decideDisclosure } from "../skills/decide-disclosure.ts";
import {
  briefOf,
  type Disclosure,
  type Entry,
  type Format,
  formatFull,
  formatIncremental,
  formatNames,
  SILENCE,
} from "../skills/disclosure.ts";
import { fromRoot } from "../skills/prompt-paths.ts";
import {
  isExplicitRequest,
  type LedgerEntry,
  requestTopic,
  type SessionStatus,
  sessionStatus,
  withDomain,
} from "../skills/session.ts";
import type { SkillCard } from "../skills/types.ts";
import type { PromptAnswer, PromptLedger } from "../store/sqlite/prompt-ledger.ts";
import { estimateTokens } from "../tokens/estimate.ts";

export interface DiscoverInput {
  sessionId: string;
  agentId?: string;
  client: ClientProfile;
  cwd: string;
  /** The project's absolute folder. Default: `cwd`. */
  root?: string;
  prompt: string;
  at: Date;
  env?: Readonly<Record<string, string | undefined>>;
  taskType?: string;
  role?: string;
  /** The client's own id of this prompt, where it has one. */
  promptId?: string;
  /** Show in full whatever the ledger says. */
  forceRecommend?: boolean;
  readHead?: (path: string) => string | undefined;
}

export interface DiscoverSettings extends DisclosureSettings {
  idleMinutes: number;
}

export function discoverSettings(config: Config): DiscoverSettings {
  return {
    maxSkills: config["skills.maxSkills"],
    recommendThreshold: config["skills.recommendThreshold"],
    autoLoadThreshold: config["skills.autoLoadThreshold"],
    autoLoad: config["skills.autoLoad"],
    enforce: config["skills.enforce"],
    idleMinutes: config["skills.idleMinutes"],
    forgetAfterPrompts: config["skills.forgetAfterPrompts"],
  };
}

export interface DiscoveredSkill {
  id: string;
  name: string;
  confidence: number;
  reasons: Reason[];
  parts: Match["parts"];
  /** full: brief. name: repeated. body: loaded. none: not shown. */
  disclosure: "full" | "name" | "body" | "none";
  verdict: string;
}

export interface Discovery {
  format: Format;
  /** What the model receives; empty for silence. */
  text: string;
  tokens: number;
  status: SessionStatus;
  isExplicit: boolean;
  domain?: string;
  promptNumber: number;
  skills: DiscoveredSkill[];
  slowPatterns: string[];
}

export interface DiscoverParts {
  index: MatchIndex & {
    body(hash: string): string | undefined;
    /** Skills with a file, as against those that only a rule names. */
    readonly installed: number;
    cardsNamed(ids: readonly string[]): SkillCard[];
    /** At most so many, by name. */
    names(limit: number): string[];
  };
  ledger: PromptLedger;
  settings: DiscoverSettings;
  /** The rules' half of matching; called only where there are rules. */
  matchRules: RuleMatcher;
  /** Takes secrets out of what is stored for `why`. */
  maskSecrets(text: string): string;
}

export function discover(
  input: DiscoverInput,
  { index, ledger, settings, matchRules, maskSecrets }: DiscoverParts,
): Discovery {
  const prompt = stripControl(input.prompt);
  const key = { sessionId: input.sessionId, agentId: input.agentId ?? "" };
  const tracking = ledger.tracking(key);
  const promptNumber = tracking.promptCount + 1;
  const used = tracking.ledger.filter(({ loadedHash }) => loadedHash).map(({ skill }) => skill);
  const root = input.root ?? input.cwd;
  const files = tracking.files.map((file) => fromRoot(file, root));
  const isExplicit = input.forceRecommend === true || isExplicitRequest(prompt);
  const { matches, slowPatterns } = combineMatches(
    {
      // "Which skills do you have for X?" asks about X; its other words would find skills that speak of skills.
      prompt: isExplicit ? requestTopic(prompt) : prompt,
      files,
      root,
      domain: tracking.domainHistory.at(-1),
      usedSkills: used,
      taskType: input.taskType,
      role: input.role,
      ...(input.env && { env: input.env }),
      ...(input.readHead && { readHead: input.readHead }),
    },
    index,
    { matchRules, limit: MOST_CANDIDATES },
  );
  const domain = promptDomain(matches, settings, files);
  const status = sessionStatus(tracking, { now: input.at, domain, idleMinutes: settings.idleMinutes });
  const decision = decideDisclosure(matches, { ledger: tracking.ledger, status, isExplicit, promptNumber, settings });
  const answer = composeAnswer(withRequired(decision, tracking.ledger, index), {
    client: input.client,
    index,
    isExplicit,
    // The first text of a window says how to find the rest; the model has it from then on.
    isFirst: isExplicit || status === "idle" || tracking.ledger.length === 0,
  });

  const skills = matches.map((match) => describeMatch(match, answer, decision.verdicts));
  const tokens = estimateTokens(answer.text);
  // Masked before it is cut: half a secret is no longer known as one.
  const masked = maskSecrets(prompt.slice(0, 4000));
  ledger.recordAnswer({
    ...key,
    client: input.client.name,
    cwd: input.cwd,
    at: input.at,
    window: tracking.window,
    promptId: input.promptId,
    isFreshStart: status === "new" || status === "idle",
    domainHistory: withDomain(status === "idle" ? [] : tracking.domainHistory, domain),
    format: answer.format,
    text: answer.text,
    tokens,
    ...listingCosts(answer, tokens),
    // A body that was cut is not the body: a later call for it gets the whole.
    loaded: answer.loaded.map(({ match, text, tokens: cost }) => ({
      skill: match.card.id,
      hash: text.includes(CUT) ? null : match.card.hash,
      tokens: cost,
    })),
    prompt: cutAt(masked, 500),
    explanation: {
      format: answer.format,
      status,
      isExplicit,
      domain,
      tokens,
      skills: skills.map((skill) => withoutSecrets(skill, masked)),
    },
  });
  ledger.recordSlowPatterns(slowPatterns, input.at);
  return {
    format: answer.format,
    text: answer.text,
    tokens,
    status,
    isExplicit,
    ...(domain && { domain }),
    promptNumber,
    skills,
    slowPatterns,
  };
}

/** The best match's domain: its rule's, else its own; else the top folder of what was touched last. */
function promptDomain(
  matches: readonly Match[],
  { recommendThreshold }: DisclosureSettings,
  files: readonly string[],
): string | undefined {
  const best = matches.find(
    ({ confidence, excluded, card }) =>
      !excluded && confidence >= recommendThreshold && (card.rule?.domain ?? card.domain),
  );
  if (best) return best.card.rule?.domain ?? best.card.domain;
  const top = files[0]?.replace(/^\.?\//, "").split("/");
  return top && top.length > 1 ? top[0] : undefined;
}

interface Answer extends Disclosure {
  fresh: Match[];
  known: Match[];
  loaded: { match: Match; text: string; tokens: number }[];
}

/** Skills that are looked at in full; `why` shows ten. */
const MOST_CANDIDATES = 12;

/** All names while they are few, for a request that names no topic or one that nothing fits. */
function catalogue(index: DiscoverParts["index"], client: ClientProfile): string {
  const names = index.installed <= MOST_NAMES ? index.names(MOST_NAMES) : [];
  return names.length > 0
    ? `Installed: ${names.join(", ")}.`
    : `None stands out for this prompt. ${searchHint(index.installed, client)}`;
}

const MOST_NAMES = 20;

/** Bodies bring those they require, before them, unless the window has them. */
function withRequired(decision: Decision, ledger: readonly LedgerEntry[], index: DiscoverParts["index"]): Decision {
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

const SIGNATURE = "(haversack)";

function composeAnswer(
  { format, fresh, known, autoLoad, verdicts }: Decision,
  {
    client,
    index,
    isExplicit,
    isFirst,
  }: { client: ClientProfile; index: DiscoverParts["index"]; isExplicit: boolean; isFirst: boolean },
): Answer {
  const isMore = isFirst && fresh.length > 0 && index.installed > fresh.length;
  const hint = isMore ? { searchHint: searchHint(index.installed, client) } : {};
  let room = client.maxChars - SIGNATURE.length - GAP;
  // A body that was asked for matters more than what else might fit.
  const listing = fitListing(
    { format, fresh, known, ...hint },
    { client, room: autoLoad.length > 0 ? Math.floor(room / 2) : room },
  );
  for (const match of [...fresh, ...known]) {
    if (!listing.fresh.includes(match) && !listing.known.includes(match)) verdicts.set(match.card.id, NO_ROOM);
  }
  const silentButAsked = isExplicit && listing.format === "none" && autoLoad.length === 0;
  const shown = silentButAsked
    ? {
        format: "names" as const,
        text: `# Skills Available\n\n${catalogue(index, client)}`,
      }
    : listing;
  if (shown.text) room -= shown.text.length + GAP;

  // The shortest first: what it leaves of its share goes to the longer ones.
  const wanted = autoLoad.map((entry) => ({ ...entry, body: index.body(entry.match.card.hash) ?? "" }));
  const texts = new Map<Match, string>();
  let left = wanted.length;
  for (const { match, because, body } of [...wanted].sort((a, b) => a.body.length - b.body.length)) {
    const text = autoLoadedText(match, because, { client, body, room: Math.floor(room / left--) - GAP });
    if (text === undefined) verdicts.set(match.card.id, NO_ROOM);
    else {
      room -= text.length + GAP;
      texts.set(match, text);
    }
  }
  const loaded = wanted.flatMap(({ match }) => {
    const text = texts.get(match);
    return text === undefined ? [] : [{ match, text, tokens: estimateTokens(text) }];
  });
  const blocks = [...loaded.map(({ text }) => text), ...(shown.text ? [shown.text] : [])];
  const parts = { fresh: listing.fresh, known: listing.known, loaded };
  if (blocks.length === 0) return { ...SILENCE, ...parts };
  return {
    format: shown.format === "none" ? "full" : shown.format,
    text: [...blocks, SIGNATURE].join("\n\n"),
    ...parts,
  };
}

/** Characters between two blocks. */
const GAP = 2;

const NO_ROOM = "left out: no room for it in this client";

/** The listing with as many skills as fit, the best first. */
function fitListing(
  {
    format: kind,
    fresh,
    known,
    ...rest
  }: { format: Format; fresh: readonly Match[]; known: readonly Match[]; searchHint?: string },
  { client, room }: { client: ClientProfile; room: number },
): Disclosure & { fresh: Match[]; known: Match[] } {
  const toEntry = (match: Match) => entryOf(match, client);
  for (let count = fresh.length + known.length; count > 0; count--) {
    const some = { fresh: fresh.slice(0, count), known: known.slice(0, Math.max(0, count - fresh.length)) };
    const listing = format(some.known.length === 0 && kind === "incremental" ? "full" : kind, {
      fresh: some.fresh.map(toEntry),
      known: some.known.map(toEntry),
      ...rest,
    });
    if (listing.text.length <= room) return { ...listing, ...some };
  }
  return { ...SILENCE, fresh: [], known: [] };
}

/** What the listing cost, by skill: a repeated name its own words, a brief its share of the rest. */
function listingCosts(
  { format: kind, fresh, known, loaded }: Answer,
  tokens: number,
): Pick<PromptAnswer, "shown" | "named"> {
  const listing = Math.max(0, tokens - loaded.reduce((sum, entry) => sum + entry.tokens, 0));
  const share = (total: number, count: number) => Math.round(Math.max(0, total) / Math.max(1, count));
  const named = known.map(({ card }) => ({
    skill: card.id,
    tokens: kind === "names" ? share(listing, known.length) : estimateTokens(card.id) + 2,
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
    priority: rule?.priority ?? "medium",
    // Written by others: what is meant as a line may be pages.
    brief: briefOf(rule?.brief ?? card.brief, LONGEST_BRIEF),
    activation: activationOf(card, client),
    ...(notice && rule?.enforcement !== "suggest" && { notice: shortened(notice, LONGEST_NOTICE) }),
  };
}

const LONGEST_BRIEF = 300;
const LONGEST_NOTICE = 600;

function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutAt(text, maxChars - 1).trimEnd()}…`;
}

/** The body, cut at a heading when it does not fit, with the place where the rest is. */
function autoLoadedText(
  { card }: Match,
  because: string,
  { client, body, room }: { client: ClientProfile; body: string; room: number },
): string | undefined {
  const head = `## AUTO-LOADED SKILL: ${card.id} (${because})\n\n`;
  const resources = card.folder ? `\n\nIts files are in ${card.folder}` : "";
  const whole = head + body.trim() + resources;
  if (whole.length <= room) return whole;
  const rest = `\n\n${CUT} ${activationOf(card, client)}]`;
  const space = room - head.length - rest.length - FENCE.length;
  if (space < 200) return undefined;
  const cut = cutAt(body.trim(), space);
  const end = ["\n#", "\n", " "].map((mark) => cut.lastIndexOf(mark)).find((at) => at > space / 2) ?? cut.length;
  const kept = cut.slice(0, end).trimEnd();
  const isInCode = (kept.match(/^\s*```/gm) ?? []).length % 2 === 1;
  return head + kept + (isInCode ? FENCE : "") + rest;
}

const FENCE = "\n```";
const CUT = "[cut to fit; the rest:";

function describeMatch(
  match: Match,
  { fresh, known, loaded }: Answer,
  verdicts: Decision["verdicts"],
): DiscoveredSkill {
  const { card, confidence, reasons, parts } = match;
  const disclosure = loaded.some((entry) => entry.match === match)
    ? "body"
    : fresh.includes(match)
      ? "full"
      : known.includes(match)
        ? "name"
        : "none";
  return {
    id: card.id,
    name: card.name,
    confidence: Math.round(confidence * 1000) / 1000,
    reasons,
    parts,
    disclosure,
    verdict: verdicts.get(card.id) ?? "",
  };
}

/** A path of the prompt may be a piece of an address with a password in it: what was masked there is not kept here. */
function withoutSecrets(skill: DiscoveredSkill, masked: string): DiscoveredSkill {
  const reasons = skill.reasons.map((reason) => {
    if (reason.feature !== "file" && reason.feature !== "content") return reason;
    const path = reason.text.replace(/ \([^()]*\)$/, "");
    const isSafe = reason.text.endsWith("(touched in this session)") || masked.includes(path);
    return isSafe ? reason : { ...reason, text: "a file in the prompt" };
  });
  return { ...skill, reasons };
}
