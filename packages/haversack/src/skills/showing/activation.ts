/**
 * How a model loads a skill and searches for others, per client. A line that does not work in that client for that
 * skill is worse than none.
 */

import { cutAt } from "../../base/clean-text.ts";
import type { SkillCard } from "../types.ts";

export interface ClientProfile {
  name: string;
  /** The most that one answer may have there: characters, or what `sizeOf` counts. */
  maxChars: number;
  /** How the client measures a text; absent: in characters. */
  sizeOf?(text: string): number;
  /** Folder names of skills that the user has hidden from the client's own listing; they are loaded through `skillTool`. */
  hidden?: ReadonlySet<string>;
  /** At a terminal: named in the command, so that following it counts as use. */
  session?: string;
  /** What our MCP tool is called there. */
  skillTool?: string;
  /** Its schema is always in the window there: a call needs no search first, and unlike reading the file it loads once. */
  isToolAtHand?: boolean;
  /** For an agent that may have no tool but one that reads files: skills are named by path, and no search is offered. */
  isFileOnly?: boolean;
  /** Whether sub-agents of this type have the skill tools of their session. Absent: not known. */
  hasAgentTools?(agentType: string): boolean;
  /** The client's own skill tool, and which sources it lists; absent: it has none. */
  ownTool?: { call: (id: string) => string; sees: (card: SkillCard) => boolean };
}

const CLAUDE_SOURCES = [".claude/skills", "~/.claude/skills"];

function isClaudeSource({ sourceKind, sourceLabel }: SkillCard): boolean {
  return sourceKind === "plugin" || CLAUDE_SOURCES.includes(sourceLabel);
}

/** Claude Code lists `skills/NAME/SKILL.md`: no single files, no deeper folders. */
function isOwnFolder({ folder }: SkillCard): boolean {
  if (folder === undefined) return false;
  const name = lastPart(folder);
  const parent = folder.slice(0, -name.length - 1);
  return name !== "" && (parent.endsWith("/skills") || parent.endsWith("\\skills"));
}

export const PROFILES: Readonly<Record<string, ClientProfile>> = {
  "claude-code": {
    name: "claude-code",
    maxChars: 9500,
    ownTool: {
      call: (id) => `Skill(skill: "${id}")`,
      sees: (card) => card.sourceKind === "rule" || (isOwnFolder(card) && isClaudeSource(card)),
    },
  },
  codex: { name: "codex", maxChars: 9800, sizeOf: (text) => Buffer.byteLength(text) },
  gemini: { name: "gemini", maxChars: 20_000, isToolAtHand: true },
  opencode: { name: "opencode", maxChars: 20_000, isToolAtHand: true },
  /** A person at a terminal, or a client we do not know. */
  plain: { name: "plain", maxChars: 20_000 },
};

export function profileOf(client: string): ClientProfile {
  return PROFILES[client] ?? PROFILES["plain"]!;
}

export function activationOf(card: SkillCard, client: ClientProfile): string {
  const { name, ownTool, hidden, skillTool, session } = client;
  // A skill that only a rules file names has no file of ours to read; its author means the skill tool.
  if (client.isFileOnly && card.sourceKind !== "rule") return `Read ${card.path}`;
  const byTool = `${skillTool}(name: "${card.id}")`;
  if (skillTool && hidden?.has(lastPart(card.folder ?? ""))) return byTool;
  if (ownTool?.sees(card)) return ownTool.call(card.id);
  if (card.sourceKind === "rule") return `Skill(skill: "${card.id}")`;
  if (name === "plain") return `haversack skills show ${card.id}${session ? ` --session ${session}` : ""}`;
  return skillTool && client.isToolAtHand ? byTool : `Read ${card.path}`;
}

/** How a sub-agent is spoken to: by what its type can do, and by file where that is not known. */
export function profileForAgent(client: ClientProfile, agentType: string): ClientProfile {
  return client.hasAgentTools?.(agentType) ? client : { ...client, isFileOnly: true };
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** How to find the rest: through our tool where the client has it, else at the command line. */
export function searchHint(total: number, { skillTool }: ClientProfile): string {
  if (total === 0) return "No skill is installed.";
  if (total === 1) return "1 skill is installed.";
  const how = skillTool ? `${skillTool}(query: "words")` : "`haversack skills search WORDS`";
  return `${total} skills are installed; ${how} finds others.`;
}

// How long a text is for a client: characters, or what it counts instead.

interface Measure {
  sizeOf?: ClientProfile["sizeOf"] | undefined;
}

export function sizeFor({ sizeOf }: Measure, text: string): number {
  return sizeOf ? sizeOf(text) : text.length;
}

/** The beginning of the text that has at most this size; nearly all of it that would fit. */
export function cutFor(client: Measure, text: string, most: number): string {
  let cut = cutAt(text, Math.max(0, most));
  for (let size = sizeFor(client, cut); size > most && cut; size = sizeFor(client, cut)) {
    cut = cutAt(cut, Math.floor((cut.length * most) / size));
  }
  return cut;
}
