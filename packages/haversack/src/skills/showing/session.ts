/**
 * Session rules of skill discovery: what counts as new, when the domain has changed, what is forgotten.
 * Decides only; the store keeps the rows.
 */

import type { Config } from "../../base/config-schema.ts";
import type { DisclosureSettings } from "./disclosure.ts";

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

/** new: first prompt of a window. idle: the first after a long pause. Both get the full format. */
export type SessionStatus = "new" | "idle" | "domain-switch" | "continue";

export interface Tracking {
  /** Prompts already counted in this session. */
  promptCount: number;
  /** None of them was in this window. Default: false. */
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
  // An unreadable time counts as a new session, as an absent one does.
  if (!(idleMs <= idleMinutes * 60_000)) return "idle";
  const last = domainHistory.at(-1);
  return domain && last && domain !== last ? "domain-switch" : "continue";
}

/** The history with a domain appended whenever it differs from the last one, so A, B, A holds both switches. */
export function withDomain(history: readonly string[], domain: string | undefined): string[] {
  const next = domain && history.at(-1) !== domain ? [...history, domain] : [...history];
  return next.slice(-MAX_DOMAINS);
}

/** What the ledger of this window holds of one skill. */
export interface LedgerEntry {
  skill: string;
  /** The number of the prompt at which it was shown with its brief, or loaded. */
  shownAtPrompt: number;
  /** The version whose body the model has, when it was loaded. */
  loadedHash?: string;
}

export function isForgotten(
  entry: LedgerEntry,
  { promptNumber, forgetAfterPrompts }: { promptNumber: number; forgetAfterPrompts: number },
): boolean {
  return forgetAfterPrompts > 0 && promptNumber - entry.shownAtPrompt > forgetAfterPrompts;
}

/**
 * "Which skills do you have?", "recommend a skill": the user asks for skills, so the ledger does not silence the answer. A
 * prompt that merely speaks of skills ("improve my writing skills", "add a skills table") is not such a request.
 */
export function isExplicitRequest(prompt: string): boolean {
  if (prompt.length > 400 || !/skill|recommend/i.test(prompt)) return false;
  return EXPLICIT_REQUESTS.some((pattern) => pattern.test(prompt));
}

/** "Which skills do you have?", "list all skills": wants the list, not what fits the work. Asked of a request without a subject. */
export function asksForList(request: string): boolean {
  return (
    /\b(?:list|all|have|installed|available)\b/i.test(request) && !/\b(?:this|here|should|could|use)\b/i.test(request)
  );
}

/** What such a request is about: the prompt without the words of asking. */
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

// How a packet says that it is one. `haversack prompt` starts a client with one as its prompt, which is no request to find skills for.
export const FROM = "From Haversack, ";
export const BY_MESSAGE = "because a message came";

/** The line stands below the packet's title. */
const FIRST_CHARS = 500;

export function isPacketPrompt(prompt: string): boolean {
  return prompt.slice(0, FIRST_CHARS).includes(FROM + BY_MESSAGE);
}
