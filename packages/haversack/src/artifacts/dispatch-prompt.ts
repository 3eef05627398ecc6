/**
 * The finished prompt for a role: its rubric, the document under review whole, sections where the map wants them, references
 * for all other documents, or the hybrid for one task. Everything that is foreign text stands in a fence.
 *
 * Documents are never shortened or retold: a reviewer who was given a digest once raised eight false blockers. What cannot
 * be shown whole is a reference.
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
} from "./reference-block.ts";
import type { Role, RoleSet } from "./role-map.ts";
import type { DispatchTask } from "./task-section.ts";

export interface DispatchInput {
  role: Role;
  set: RoleSet;
  feature: { name: string };
  /** Facts about each of the role's documents; about the set's too where the pasted version is wanted. */
  documents: readonly DocumentFacts[];
  countTokens: (text: string) => number;
  /** The text of the project's own rubric file. Absent: the shipped one. */
  rubric?: string | undefined;
  /** Default: iteration 1 of 3. */
  iteration?: IterationContext | undefined;
  /** For sets about code: what was changed. */
  implementationFiles?: readonly string[] | undefined;
  /** For a role that fixes: what reviewers found. */
  issuesToFix?: readonly PreviousIssue[] | undefined;
  /** For sets about tasks. */
  task?: DispatchTask | undefined;
  projectContext?: { text: string; budgetTokens: number; path?: string } | undefined;
  /** A document under review above this becomes a reference. Default: 50,000. */
  maxInlineTokens?: number | undefined;
}

export interface DispatchPrompt {
  kind: "prompt";
  /** The arguments of the client's tool that starts a sub-agent. */
  call: { description: string; subagent_type?: string; model?: string; prompt: string };
  /** What the reader must read for itself: receipts are asked for those that are `present`. */
  references: DocumentFacts[];
  /** What stands in the prompt. */
  inlined: { file: string; what: "whole" | "sections"; lines: number }[];
  /** What a person should know: a section that is not there, a document that is missing. One line each. */
  problems: string[];
}

export type DispatchAnswer =
  | DispatchPrompt
  /** The document to review is not there, or is no text. */
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
    if (state !== "present" && !isNoPrd) problems.push(`${file}: ${EXPLAINED[state]} (${path})`);
  }
  return {
    kind: "prompt",
    call: {
      description: describeCall(input),
      ...(role.agentType === undefined ? {} : { subagent_type: role.agentType }),
      ...(role.model === undefined ? {} : { model: role.model }),
      prompt,
    },
    references,
    inlined,
    problems,
  };
}

/**
 * The same prompt as it was before references: every document pasted. `set`: all documents of the set, as orchestrators do
 * that know no roles.
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

export interface DispatchTokens {
  /** What is sent. */
  prompt: number;
  /** What the sub-agent then reads: the text of its references. */
  reads: number;
  /** What would be sent with the role's documents pasted. */
  pasted: number;
  /** The same with all documents of the set. */
  pastedUnpruned: number;
}

export function countDispatch(input: DispatchInput, answer: DispatchPrompt): DispatchTokens {
  const count = input.countTokens;
  return {
    prompt: count(answer.call.prompt),
    reads: answer.references.reduce((sum, { text }) => sum + (text === undefined ? 0 : count(text)), 0),
    pasted: count(pastedPrompt(input)),
    pastedUnpruned: count(pastedPrompt(input, { documents: "set" })),
  };
}

const EXPLAINED: Record<Exclude<DocumentState, "present">, string> = {
  missing: "does not exist",
  empty: "is empty",
  binary: "is no text",
  outside: "leads out of the repository",
  unreadable: "could not be opened",
};

const MAX_INLINE_TOKENS = 50_000;

interface DocumentPlan {
  bodies: string[];
  references: DocumentFacts[];
  inlined: DispatchPrompt["inlined"];
  problems: string[];
}

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
        `${file}: too large to stand in the prompt, so it is a reference (more than ${maxInlineTokens} tokens)`,
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
  // In the order in which the map names them, not in that of the documents.
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
  // Who it is for: hooks find it here, whatever type of sub-agent the client starts.
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
  return fitted.text === "" ? "" : heading + fitted.text;
}

function purposeOf({ role, set }: DispatchInput): "review" | "work" {
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
