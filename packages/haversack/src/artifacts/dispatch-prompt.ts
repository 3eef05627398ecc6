/**
 * Builds the complete prompt for a role: its rubric, the document under review in full, sections where the map requests them, and
 * references for all other documents. For one task it mixes sections and references. All foreign text is fenced.
 *
 * Documents are never shortened or summarized: a reviewer with a digest once raised eight false blockers. A document that cannot be
 * shown in full becomes a reference.
 */
import { cleanLine, stripControl } from "../base/clean-text.ts";
import { formatAnswerRequest } from "./answer-formats.ts";
import { shippedRubric } from "./presets/rubrics.ts";
import { inlineSections, quoteDocument, quoteWithin } from "./quote-document.ts";
import {
  type DocumentFacts,
  type DocumentState,
  formatImplementationFiles,
  formatIterationContext,
  formatPreviousIssue,
  formatReferenceBlock,
  type IterationContext,
  type PreviousIssue,
  STATE_WORDS,
} from "./reference-block.ts";
import type { Role, RoleSet } from "./role-map.ts";
import type { DispatchTask } from "./task-section.ts";

export interface DispatchInput {
  role: Role;
  set: RoleSet;
  feature: { name: string };
  /** Facts about the role's documents. For the pasted version, also about those of the set. */
  documents: readonly DocumentFacts[];
  countTokens: (text: string) => number;
  /** The text of the project's own rubric file. Absent: the shipped one. */
  rubric?: string | undefined;
  /** Default: iteration 1 of 3. */
  iteration?: IterationContext | undefined;
  /** For sets about code: the changed files. */
  implementationFiles?: readonly string[] | undefined;
  /** For a role that fixes: the issues that reviewers found. */
  issuesToFix?: readonly PreviousIssue[] | undefined;
  /** For sets about tasks. */
  task?: DispatchTask | undefined;
  projectContext?: { text: string; budgetTokens: number; path?: string } | undefined;
  /** A larger document under review becomes a reference. Default: 50,000. */
  maxInlineTokens?: number | undefined;
}

export interface DispatchPrompt {
  kind: "prompt";
  /** Arguments for the client's tool that starts a sub-agent. */
  call: { description: string; subagent_type?: string; model?: string; prompt: string };
  /** Documents that the agent must read itself. Receipts are required for those that are `present`. */
  references: DocumentFacts[];
  /** Documents contained in the prompt. */
  inlined: { file: string; what: "whole" | "sections"; lines: number }[];
  /** Problems to show to a person: a missing section or document. One line each. */
  problems: string[];
}

export type DispatchAnswer =
  | DispatchPrompt
  /** The document to review is missing or not text. */
  | { kind: "not-reviewable"; file: string; path: string; state: Exclude<DocumentState, "present"> }
  | { kind: "task-needed" };

export const MAX_ITERATIONS = 3;

export function dispatchPrompt(input: DispatchInput): DispatchAnswer {
  const { role, set, task } = input;
  if (set.dispatch === "task" && !task) return { kind: "task-needed" };
  const plan = planDocuments(input);
  if ("kind" in plan) return plan;
  const { inlined, problems, references, bodies } = plan;
  const prompt = composePrompt(input, {
    bodies,
    references: formatReferenceBlock(references, { purpose: purposeOf(input) }),
  });
  for (const { file, path, state, isNoPrd } of references) {
    if (state !== "present" && !isNoPrd) problems.push(`${file}: ${STATE_WORDS[state]} (${path})`);
  }
  return {
    kind: "prompt",
    call: {
      description: describeCall(input),
      ...(role.agentType !== undefined && { subagent_type: role.agentType }),
      ...(role.model !== undefined && { model: role.model }),
      prompt,
    },
    references,
    inlined,
    problems,
  };
}

/**
 * The prompt as it was before references: every document pasted. `set`: pastes all documents of the set, like orchestrators without
 * roles.
 */
export function pastedPrompt(
  input: DispatchInput,
  { documents = "role" }: { documents?: "role" | "set" } = {},
): string {
  const files =
    documents === "role" ? input.role.documents : [...new Set([...input.set.documents, ...input.role.documents])];
  const bodies = files.flatMap((file) => {
    const facts = input.documents.find((candidate) => candidate.file === file);
    if (!facts || facts.isNoPrd) return facts ? [`## ${facts.name}\nNone - feature created without brainstorm`] : [];
    return [`## ${facts.name}\n${facts.text ?? ""}`];
  });
  return composePrompt(input, { bodies, references: "" });
}

const MAX_INLINE_TOKENS = 50_000;

type DocumentPlan = Pick<DispatchPrompt, "references" | "inlined" | "problems"> & { bodies: string[] };

function planDocuments(input: DispatchInput): DocumentPlan | Extract<DispatchAnswer, { kind: "not-reviewable" }> {
  const { role, documents, task, countTokens, maxInlineTokens = MAX_INLINE_TOKENS } = input;
  const plan: DocumentPlan = { bodies: [], references: [], inlined: [], problems: [] };
  const scoped = new Map<string, string>();
  for (const file of role.documents) {
    const facts = documents.find((candidate) => candidate.file === file);
    if (!facts) {
      plan.problems.push(`${file}: nothing is known about it; it was left out`);
      continue;
    }
    if (file === role.underReview) {
      if (facts.state !== "present") return { kind: "not-reviewable", file, path: facts.path, state: facts.state };
      if (facts.text !== undefined && countTokens(facts.text) <= maxInlineTokens) {
        plan.bodies.push(underReview(facts));
        plan.inlined.push({ file, what: "whole", lines: facts.lineCount ?? 0 });
        continue;
      }
      plan.problems.push(
        `${file}: too large for the prompt, so it is a reference (more than ${maxInlineTokens} tokens)`,
      );
      plan.bodies.push(
        `## ${cleanLine(facts.name)} (under review)\nIt is too large to stand here: read it whole, as listed below.`,
      );
    } else if (Object.hasOwn(role.sections, file) && facts.state === "present" && facts.text !== undefined) {
      const { body, lines, problems } = inlineSections(facts, role.sections[file]!, task);
      plan.problems.push(...problems);
      if (body !== "") {
        scoped.set(file, body);
        plan.inlined.push({ file, what: "sections", lines });
      }
      if (problems.length === 0 && body !== "") continue;
    }
    plan.references.push(facts);
  }
  // In the order of the role map, not of the documents.
  plan.bodies.push(...Object.keys(role.sections).flatMap((file) => scoped.get(file) ?? []));
  return plan;
}

function underReview({ name, path, lineCount, text = "" }: DocumentFacts): string {
  const size = lineCount === undefined ? "" : ` (${lineCount} lines)`;
  return `## ${cleanLine(name)} (under review)\nThe whole of ${cleanLine(path)}${size}:\n${quoteDocument(text)}`;
}

function composePrompt(
  input: DispatchInput,
  { bodies, references }: { bodies: readonly string[]; references: string },
): string {
  const { role, set, feature, task, implementationFiles = [], issuesToFix = [], iteration } = input;
  const rubric = input.rubric?.trim() || shippedRubric(set.name, role.name);
  const answer = formatAnswerRequest(role.answer, { hasPrevious: (iteration?.iteration ?? 1) > 1 });
  // Names the role: hooks find it here for any sub-agent type.
  const featureLine = `Feature: ${cleanLine(feature.name)}\nRole: ${cleanLine(role.name)}`;
  if (set.dispatch === "task" && task) {
    return join([
      "Implement the following task:",
      `## Task\n${featureLine}\n${cleanLine([task.label, task.subject].filter(Boolean).join(": "))}\n\n${stripControl(task.description)}`.trimEnd(),
      task.doneWhen === undefined ? "" : `## Done When\n${stripControl(task.doneWhen)}`,
      ...bodies,
      references,
      formatProjectContext(input),
      formatImplementationFiles(task.files, "## Files to Work On"),
      iteration && iteration.iteration > 1 ? formatIterationContext(iteration) : "",
      rubric,
      answer,
    ]);
  }
  return join([
    rubric,
    featureLine,
    ...bodies,
    references,
    set.dispatch === "code" ? formatImplementationFiles(implementationFiles) : "",
    issuesToFix.length === 0 ? "" : ["## Issues to Fix", ...issuesToFix.map(formatPreviousIssue)].join("\n"),
    formatProjectContext(input),
    formatIterationContext(iteration ?? { iteration: 1, maxIterations: MAX_ITERATIONS }),
    answer,
  ]);
}

function formatProjectContext({ projectContext, countTokens }: DispatchInput): string {
  if (!projectContext) return "";
  const { text, budgetTokens, path } = projectContext;
  const heading = "## Project Context\n";
  const fitted = quoteWithin(text, { budgetTokens: budgetTokens - countTokens(heading), countTokens, path });
  return fitted === "" ? "" : heading + fitted;
}

export function purposeOf({ role, set }: Pick<DispatchInput, "role" | "set">): "review" | "work" {
  return set.dispatch === "task" || role.answer === "work" ? "work" : "review";
}

function describeCall({ role, set, task, documents }: DispatchInput): string {
  if (role.description !== undefined) return cleanLine(role.description, { maxChars: 200 });
  if (set.dispatch === "task" && task) {
    const number = task.label?.replace(/^task /i, "");
    return cleanLine(`Implement task${number ? ` ${number}` : ""}: ${task.subject}`, { maxChars: 200 });
  }
  const target = documents.find(({ file }) => file === role.underReview)?.name;
  return `${role.name}: ${target === undefined ? set.name : cleanLine(target)}`;
}

function join(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
