/**
 * Packet templates: markdown with `{{placeholders}}`. A part that a project's template does not name is not shown. Unknown placeholders are
 * removed and reported; the packet is still made.
 */
import { cleanLine, headingLevel, isFence, stripControl } from "../base/clean-text.ts";

export const PLACEHOLDERS = [
  "identity",
  "skill",
  "plan",
  "task",
  "tasks",
  "wip",
  "handoffs",
  "messages",
  "activity",
  "new_message",
  "next_action",
  "missing",
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export interface TemplateSection {
  /** A section without placeholders is a part of the packet like any other. */
  text: string;
  placeholders: readonly Placeholder[];
}

export interface Template {
  sections: readonly TemplateSection[];
  placeholders: ReadonlySet<Placeholder>;
  problems: readonly string[];
}

/** Longer templates are cut: a template only frames a packet. */
const MOST_CHARS = 20_000;

/** `text`: the project's own template. If absent or empty, uses the shipped one for the role, else the default. */
export function templateFor(role: string, text?: string): Template {
  const own = text === undefined ? "" : stripControl(text.slice(0, MOST_CHARS)).trim();
  const shipped = (Object.hasOwn(DEFAULT_TEMPLATES, role) && DEFAULT_TEMPLATES[role]) || DEFAULT_TEMPLATES["default"]!;
  if (!own) return parseTemplate(shipped, role);
  const template = parseTemplate(own, cleanLine(role, { maxChars: 60 }));
  // All its placeholders are unknown. Use the shipped template, because a packet without task and next action is useless.
  return template.problems.length > 0 && template.placeholders.size === 0
    ? { ...parseTemplate(shipped, role), problems: template.problems }
    : template;
}

export function parseTemplate(text: string, name: string): Template {
  const unknown = new Set<string>();
  const all = splitSections(text).map((section) => {
    const plain = placeholdersIn(section);
    if (plain) return { text: section, placeholders: plain, isBare: false };
    const placeholders: Placeholder[] = [];
    const known = section.replace(SLOT, (slot, word: string) => {
      if (isPlaceholder(word)) placeholders.push(word);
      else unknown.add(cleanLine(slot, { maxChars: 40 }));
      return isPlaceholder(word) ? `{{${word}}}` : "";
    });
    return { text: known, placeholders, isBare: known !== section && known.replace(/^#{1,6} .*$/gm, "").trim() === "" };
  });
  // Drop sections in which only a heading is left after removing unknown placeholders.
  const sections = all.flatMap(({ isBare, ...section }) =>
    isBare && section.placeholders.length === 0 ? [] : section,
  );
  const problems =
    unknown.size === 0
      ? []
      : [`template ${name}.md: unknown ${[...unknown].slice(0, 5).join(", ")}; known are ${PLACEHOLDERS.join(", ")}`];
  return { sections, placeholders: new Set(sections.flatMap(({ placeholders }) => placeholders)), problems };
}

/** Fast path without a pattern, enough for most templates. Undefined if the braces hold anything but an exact placeholder. */
function placeholdersIn(section: string): Placeholder[] | undefined {
  const found: Placeholder[] = [];
  for (let at = section.indexOf("{{"); at >= 0; at = section.indexOf("{{", at)) {
    const end = section.indexOf("}}", at);
    const word = section.slice(at + 2, Math.max(at, end));
    if (!isPlaceholder(word)) return undefined;
    found.push(word);
    at = end + 2;
  }
  return found;
}

/**
 * Fills the placeholders in one pass, so braces in the inserted texts stay as they are. Returns the sections that are not empty. `hasOwn`:
 * whether a section without placeholders is shown.
 */
export function renderTemplate(
  { sections }: Template,
  { textOf, hasOwn }: { textOf: (slot: Placeholder) => string; hasOwn: (section: number) => boolean },
): string[] {
  return sections
    .flatMap(({ text, placeholders }, at) => {
      if (placeholders.length === 0) return hasOwn(at) ? text : [];
      if (placeholders.every((slot) => textOf(slot) === "")) return [];
      return fill(text, textOf);
    })
    .map((section) => section.trim());
}

/** An empty placeholder also removes the line break after it. */
function fill(text: string, textOf: (slot: Placeholder) => string): string {
  let filled = "";
  let from = 0;
  // Of three braces in a row, the last two count.
  for (let at = text.indexOf("{{"); at >= 0; at = text.indexOf("{{", Math.max(at + 1, from))) {
    const end = text.indexOf("}}", at);
    const slot = text.slice(at + 2, end);
    if (end < 0 || !isPlaceholder(slot)) continue;
    const value = textOf(slot);
    filled += text.slice(from, at) + value;
    from = end + 2 + (value === "" && text[end + 2] === "\n" ? 1 : 0);
  }
  return filled + text.slice(from);
}

const SLOT = /\{\{\s*([^{}\n]{0,60}?)\s*\}\}/g;

function isPlaceholder(word: string): word is Placeholder {
  return (PLACEHOLDERS as readonly string[]).includes(word);
}

/** Splits at headings outside code fences. A heading with nothing below it belongs to the next section. */
function splitSections(text: string): string[] {
  const sections: string[] = [];
  let lines: string[] = [];
  let isFenced = false;
  for (const line of text.split("\n")) {
    if (isFence(line)) isFenced = !isFenced;
    const isHeading = !isFenced && headingLevel(line) > 0;
    if (isHeading && lines.some((other) => other.trim() !== "" && headingLevel(other) === 0)) {
      sections.push(lines.join("\n").trim());
      lines = [];
    }
    lines.push(line);
  }
  return [...sections, lines.join("\n").trim()].filter(Boolean);
}

/**
 * The shipped templates, one per role. A section whose parts are all empty is left out with its heading, so most packets have only a few
 * sections. Only sub-agents started in a role and agents added with one get guidelines; a session that works alone has its user. A project
 * replaces a template with `.haversack/templates/ROLE.md`.
 */
const HAND_OFF =
  "- At the end put the details into set_task_handoff and answer with a short summary and `VERDICT: PASS`, `FAIL` or `BLOCKED`.";

const COMMON = `## Work in Progress
{{wip}}
{{handoffs}}

## Messages
{{messages}}`;

const END = `## New Message
{{new_message}}

## Your Next Action
{{next_action}}`;

function subAgent(title: string, guidelines: string): string {
  return `# ${title} Subagent
{{identity}}
{{missing}}

## Your Instructions
{{skill}}

## The Task
{{task}}

### From the Plan
{{plan}}

## Context from Orchestrator
{{wip}}
{{handoffs}}
{{messages}}

## Guidelines
${guidelines}
${HAND_OFF}

${END}`;
}

export const DEFAULT_TEMPLATES: Readonly<Record<string, string>> = {
  orchestrator: `# Orchestrator Wake-up Context
{{identity}}
{{missing}}

## Current Skill
{{skill}}

## Active Plan
{{plan}}

## Current Tasks
{{tasks}}
{{task}}

${COMMON}

## Recent Activity
{{activity}}

${END}`,
  implementer: subAgent(
    "Implementer",
    "- Test first. Do what the task asks and no more. Look over your own change before you hand it off.",
  ),
  "spec-reviewer": subAgent(
    "Spec Reviewer",
    "- Trust the code, not what was said about it.\n- PASS only if every criterion holds and nothing was added. Name file and line of what fails. Change nothing.",
  ),
  "quality-reviewer": subAgent(
    "Quality Reviewer",
    "- Name file, line and consequence of each finding, the worst first. Matters of taste are no reason to FAIL. Change nothing.",
  ),
  fixer: subAgent(
    "Fixer",
    "- Fix what was found and nothing else. See each test fail before you fix it and pass after.",
  ),
  default: `# Wake-up Context
{{identity}}
{{missing}}

## Current Skill
{{skill}}

## The Task
{{tasks}}
{{task}}

## Active Plan
{{plan}}

${COMMON}

## Recent Activity
{{activity}}

${END}`,
};
