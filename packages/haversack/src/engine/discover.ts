/**
 * Answers a prompt: finds the skills that fit, checks what the model has already seen in this window, and composes the text for the rest.
 * One transaction records what was shown and why.
 */
import { cutAt, stripControl } from "../base/clean-text.ts";
import { maskSecrets } from "../base/mask.ts";
import {
  type Match,
  type MatchIndex,
  type MatchResult,
  matchSkills,
  type Reason,
} from "../skills/matching/match-skills.ts";
import { fromRoot } from "../skills/matching/prompt-paths.ts";
import { type ClientProfile, isPacketPrompt } from "../skills/showing/activation.ts";
import {
  asksForList,
  type Decision,
  type DisclosureSettings,
  type DiscoverSettings,
  decideDisclosure,
  type Format,
  isExplicitRequest,
  requestTopic,
  type SessionStatus,
  sessionStatus,
  withDomain,
} from "../skills/showing/disclosure.ts";
import type { PromptLedger } from "../store/sqlite/skills/prompt-ledger.ts";

import { estimateTokens } from "../tokens/estimate.ts";
import { type Answer, type AnswerIndex, CUT, composeAnswer, listingCosts, withRequired } from "./compose-answer.ts";

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
  /** The title of the task in hand. */
  taskTitle?: string;
  /** Similarity to the prompt by skill id, from an embedding endpoint. */
  judged?: ReadonlyMap<string, number> | undefined;
  /** The client's own id of this prompt, where it has one. */
  promptId?: string;
  /** Show in full, even if the ledger has it. */
  forceRecommend?: boolean;
  readHead?: (path: string) => string | undefined;
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
  index: MatchIndex & AnswerIndex;
  ledger: PromptTracking;
  settings: DiscoverSettings;
}

/** The part of a session's ledger that discovery reads and writes. */
export type PromptTracking = Pick<PromptLedger, "tracking" | "recentPrompts" | "recordAnswer" | "recordSlowPatterns">;

export function discover(input: DiscoverInput, { index, ledger, settings }: DiscoverParts): Discovery {
  const prompt = isPlainText(input.prompt) ? input.prompt : stripControl(input.prompt);
  const key = { sessionId: input.sessionId, agentId: input.agentId ?? "" };
  const tracking = ledger.tracking(key);
  const promptNumber = tracking.promptCount + 1;
  const used = tracking.ledger.filter(({ loadedHash }) => loadedHash).map(({ skill }) => skill);
  const root = input.root ?? input.cwd;
  const files = tracking.files.map((file) => fromRoot(file, root));
  const isPacket = isPacketPrompt(prompt);
  const isExplicit = input.forceRecommend === true || (!isPacket && isExplicitRequest(prompt));
  const match = (text: string) =>
    matchSkills(
      {
        prompt: text,
        files,
        root,
        domain: tracking.domainHistory.at(-1),
        usedSkills: used,
        taskType: input.taskType,
        role: input.role,
        taskTitle: input.taskTitle,
        sessionId: input.sessionId,
        isLearning: settings.isLearning,
        // Earlier prompts that a request looks back on were not judged.
        judged: text === prompt ? input.judged : undefined,
        ...(input.env && { env: input.env }),
        ...(input.readHead && { readHead: input.readHead }),
      },
      index,
      CANDIDATES,
    );
  // "Which skills do you have for X?" asks about X. Its other words would match skills about skills.
  const topic = isExplicit ? requestTopic(prompt) : isPacket ? "" : prompt;
  let found = match(topic);
  let hasSubject = isExplicit && hasWords(topic);
  if (isExplicit && !asksForList(prompt) && found.matches.every(({ excluded }) => excluded)) {
    // "Which skill should I use?" asks about the work of the last prompts.
    const before = ledger.recentPrompts(key, LOOK_BACK).map(topicOf).filter(hasWords).slice(0, RECENT_PROMPTS);
    if (before.length > 0) {
      found = bestOf(before.map(match));
      // Show guesses only if there is no sure match.
      const sure = found.matches.filter(({ confidence }) => confidence >= settings.recommendThreshold);
      if (sure.length > 0) found = { ...found, matches: sure };
      hasSubject = true;
    }
  }
  const { matches, slowPatterns } = found;
  const domain = promptDomain(matches, settings, files);
  const status = sessionStatus(tracking, { now: input.at, domain, idleMinutes: settings.idleMinutes });
  const decision = decideDisclosure(matches, {
    ledger: tracking.ledger,
    status,
    isExplicit,
    isForced: input.forceRecommend === true,
    promptNumber,
    settings,
  });
  const answer = composeAnswer(withRequired(decision, tracking.ledger, index), {
    client: input.client,
    index,
    ...(isExplicit && { request: { hasSubject } }),
    // Only the first text of a window explains how to find more skills.
    isFirst: isExplicit || status === "idle" || tracking.ledger.length === 0,
  });

  const skills = matches.map((match) => describeMatch(match, answer, decision.verdicts));
  const tokens = estimateTokens(answer.text);
  // Mask before cutting: half a secret is no longer recognized.
  const masked = cutAt(maskSecrets(prompt.slice(0, 8000)), 4000);
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
    // A cut body does not count as loaded: a later call gets the whole text.
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

/** Most prompts are short printable ASCII: they need no stripping, so no pattern is compiled. */
function isPlainText(text: string): boolean {
  if (text.length > 2000) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 32 && code !== 10 && code !== 9) || code > 126) return false;
  }
  return true;
}

/** The domain of the best match (its rule's, otherwise its own), otherwise the top folder of the last touched file. */
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
  // Relative here, or absolute and outside the project.
  const top = (files[0]?.startsWith("/") ? files[0].slice(1) : files[0])?.split("/");
  return top && top.length > 1 ? top[0] : undefined;
}

/** The topic of a prompt: the subject of a request for skills; nothing for a packet. */
function topicOf(prompt: string): string {
  if (isPacketPrompt(prompt)) return "";
  return isExplicitRequest(prompt) ? requestTopic(prompt) : prompt;
}

function hasWords(text: string): boolean {
  return /[a-z0-9]/i.test(text) || /[\p{L}\p{N}]/u.test(text);
}

/**
 * Each prompt is matched separately: in one long text, the words of one prompt would drown those of another. A skill that only an earlier
 * prompt named does not count as named now, so its body is not loaded.
 */
function bestOf(results: readonly MatchResult[]): MatchResult {
  const best = new Map<string, Match>();
  for (const match of results.flatMap(({ matches }) => matches)) {
    const { id } = match.card;
    const other = best.get(id);
    if (!other || other.confidence < match.confidence) best.set(id, { ...match, named: false });
  }
  const matches = [...best.values()].sort(
    (a, b) => Number(Boolean(a.excluded)) - Number(Boolean(b.excluded)) || b.confidence - a.confidence,
  );
  return {
    matches: matches.slice(0, CANDIDATES.limit),
    slowPatterns: [...new Set(results.flatMap(({ slowPatterns }) => slowPatterns))],
  };
}

/** How many earlier prompts tell what a request for skills is about. */
const RECENT_PROMPTS = 3;
/** How far back to look for them, skipping other such requests. */
const LOOK_BACK = 12;
/** As many as `why` shows. A card is a row to read: after eight, skip weak matches. */
export const CANDIDATES = { limit: 10, faint: { after: 8, below: 0.03 } };

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

/** A path in the prompt may be part of an address with a password: drop what was masked in the prompt. */
function withoutSecrets(skill: DiscoveredSkill, masked: string): DiscoveredSkill {
  const reasons = skill.reasons.map((reason) => {
    if (reason.feature !== "file" && reason.feature !== "content") return reason;
    const path = reason.text.replace(/ \([^()]*\)$/, "");
    const isSafe = reason.text.endsWith("(touched in this session)") || masked.includes(path);
    return isSafe ? reason : { ...reason, text: "a file in the prompt" };
  });
  return { ...skill, reasons };
}
