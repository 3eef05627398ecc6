/**
 * How a model loads a skill and searches for others, per client. An instruction that does not work in that client for that skill is worse
 * than none.
 */

import { cutAt, shellWord } from "../../base/clean-text.ts";
import type { SkillCard } from "../types.ts";

export interface ClientProfile {
  name: string;
  /** The maximum size of one answer: in characters, or as `sizeOf` counts. */
  maxChars: number;
  /** How the client measures a text. Absent: in characters. */
  sizeOf?(text: string): number;
  /** Folder names of skills that the user hid from the client's own listing; they are loaded through `skillTool`. */
  hidden?: ReadonlySet<string>;
  /** At a terminal: the session is named in the command, so running it counts as use. */
  session?: string;
  /** The name of our MCP tool in this client. */
  skillTool?: string;
  /** The tool's schema is always in the window, so a call needs no search first. Unlike reading the file, it loads only once. */
  isToolAtHand?: boolean;
  /** For an agent that may only have a tool to read files: skills are named by path, and no search is offered. */
  isFileOnly?: boolean;
  /** Whether sub-agents of this type have their session's skill tools. Absent: unknown. */
  hasAgentTools?(agentType: string): boolean;
  /** The client's own skill tool, and which skills it lists. Absent: it has none. */
  ownTool?: { call: (id: string) => string; sees: (card: SkillCard) => boolean };
}

const CLAUDE_SOURCES = [".claude/skills", "~/.claude/skills"];

function isClaudeSource({ sourceKind, sourceLabel }: SkillCard): boolean {
  return sourceKind === "plugin" || CLAUDE_SOURCES.includes(sourceLabel);
}

/** Claude Code lists only `skills/NAME/SKILL.md`: no single files, no deeper folders. */
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
  /** A person at a terminal, or an unknown client. */
  plain: { name: "plain", maxChars: 20_000 },
};

export function profileOf(client: string): ClientProfile {
  return PROFILES[client] ?? PROFILES["plain"]!;
}

export function activationOf(card: SkillCard, client: ClientProfile): string {
  const { name, ownTool, hidden, skillTool, session } = client;
  // A skill that only a rules file names has no file for us to read; its author means the skill tool.
  if (client.isFileOnly && card.sourceKind !== "rule") return `Read ${card.path}`;
  const byTool = `${skillTool}(name: "${card.id}")`;
  if (skillTool && hidden?.has(lastPart(card.folder ?? ""))) return byTool;
  if (ownTool?.sees(card)) return ownTool.call(card.id);
  if (card.sourceKind === "rule") return `Skill(skill: "${card.id}")`;
  if (name === "plain") return `haversack skill show ${shellWord(card.id)}${session ? ` --session ${session}` : ""}`;
  return skillTool && client.isToolAtHand ? byTool : `Read ${card.path}`;
}

/** The profile for a sub-agent: file-only, unless its type is known to have the skill tools. */
export function profileForAgent(client: ClientProfile, agentType: string): ClientProfile {
  return client.hasAgentTools?.(agentType) ? client : { ...client, isFileOnly: true };
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** How to search other skills: with our tool if the client has it, else at the command line. */
export function searchWay({ skillTool }: ClientProfile): string {
  return skillTool ? `${skillTool}(query)` : "`haversack skill search WORDS`";
}

/** For a user who asks for skills. */
export function searchHint(total: number, client: ClientProfile): string {
  if (total === 0) return "No skill is installed.";
  if (total === 1) return "1 skill is installed.";
  return `${total} skills are installed; ${searchWay(client)} finds others.`;
}

// Measures a text as the client does: in characters, or with its own measure.

interface Measure {
  sizeOf?: ClientProfile["sizeOf"] | undefined;
}

export function sizeFor({ sizeOf }: Measure, text: string): number {
  return sizeOf ? sizeOf(text) : text.length;
}

/** The longest beginning of the text within this size, or nearly so. */
export function cutFor(client: Measure, text: string, most: number): string {
  let cut = cutAt(text, Math.max(0, most));
  for (let size = sizeFor(client, cut); size > most && cut; size = sizeFor(client, cut)) {
    cut = cutAt(cut, Math.floor((cut.length * most) / size));
  }
  return cut;
}

// Marks a text as a packet. `haversack agent prompt` starts a client with a packet as its prompt; no skills are searched for that.
export const FROM = "From Haversack, ";
export const BY_MESSAGE = "because a message came";

/** The line is below the packet's title. */
const FIRST_CHARS = 500;

export function isPacketPrompt(prompt: string): boolean {
  return prompt.slice(0, FIRST_CHARS).includes(FROM + BY_MESSAGE);
}
