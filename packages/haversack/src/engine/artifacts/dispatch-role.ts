/**
 * Makes the finished prompt for a role: reads the documents, chooses between a fresh dispatch and resuming the previous iteration's
 * reviewer, and records the cost.
 */

import { join } from "node:path";
import {
  type DispatchInput,
  type DispatchPrompt,
  dispatchPrompt,
  MAX_ITERATIONS,
  pastedPrompt,
} from "../../artifacts/dispatch-prompt.ts";
import { numberLines } from "../../artifacts/quote-document.ts";
import { requiredDocuments } from "../../artifacts/receipts.ts";
import { type DocumentFacts, STATE_WORDS } from "../../artifacts/reference-block.ts";
import type { Role, RoleSet } from "../../artifacts/role-map.ts";
import { type DispatchTask, readTask, sectionsIn } from "../../artifacts/task-section.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import type { DispatchCost } from "../../store/artifact-records.ts";
import type { DispatchOutcome, DispatchRequest } from "./artifact-operations.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import { changedFiles } from "./git-snapshot.ts";
import { openRole, readRubric } from "./load-role-map.ts";
import { type Feature, readDocuments } from "./open-feature.ts";
import { planResume } from "./plan-resume.ts";
import { issuesToFix, nextIteration, previousIssues } from "./previous-issues.ts";
import { readDocument } from "./read-document.ts";

const FILES_MAX = 200;

export async function dispatchRole(request: DispatchRequest, parts: ArtifactParts): Promise<DispatchOutcome> {
  const hasTask = request.task !== undefined;
  const { map, problems: mapProblems, feature, role, set, loop: key } = openRole(request, parts, { hasTask });
  const problems = mapProblems.map(({ path, text }) => `artifacts.json: ${path} ${text}`);
  const loop = await parts.store.getLoop(key);
  const next = nextIteration(loop, { role, set, feature });
  const iteration = request.iteration ?? next;
  if (iteration > next && role.answer !== "work") {
    const known = next === 1 ? "none is recorded yet" : `the last one recorded is ${next - 1}`;
    problems.push(`iteration ${iteration} of ${role.name}: ${known}, and its review can only be recorded as ${next}`);
  }
  const maxIterations = request.maxIterations ?? MAX_ITERATIONS;
  const files = [...new Set([...role.documents, ...set.documents])];
  const { documents, problems: documentProblems } = readDocuments(feature, map, files);
  const rubric = readRubric(role, parts.paths);
  problems.push(...documentProblems, ...(rubric.problem === undefined ? [] : [rubric.problem]));

  const input: DispatchInput = {
    role,
    set,
    feature,
    documents,
    countTokens: parts.countTokens,
    rubric: rubric.text,
    implementationFiles: set.dispatch === "code" ? codeFiles(request, feature, problems) : undefined,
    issuesToFix: role.answer === "work" && !hasTask ? await issuesToFix(parts, key) : undefined,
    task: request.task === undefined ? undefined : await findTask(request.task, feature, parts),
    projectContext: request.projectContext,
    iteration: { iteration, maxIterations, previousIssues: previousIssues(loop, { role, set, feature, iteration }) },
  };
  if (input.issuesToFix?.length === 0)
    problems.push(`no open issue is recorded for ${set.name}: nothing to fix is named`);
  const first = dispatchPrompt(input);
  if (first.kind !== "prompt") return { kind: "refused", text: explainRefusal(first, input) };
  const plan = await planResume(parts, { request, input, feature, loop, iteration, maxIterations, fresh: first });
  // The prompt contains a note about the fallback, so it is made again.
  if (plan.how === "fallback") input.iteration = { ...input.iteration!, isFallback: true };
  const answer = plan.how === "fallback" ? dispatchPrompt(input) : first;
  if (answer.kind !== "prompt") return { kind: "refused", text: explainRefusal(answer, input) };

  const isResume = plan.how === "resume";
  const prompt = isResume ? plan.prompt : answer.call.prompt;
  const references = isResume ? [] : answer.references;
  const tokens = costOf(input, { prompt, references }, parts);
  // What a resume is compared with: the fresh prompt and what its reader reads.
  const fresh = () => parts.countTokens(answer.call.prompt) + readTokens(answer.references, parts.countTokens);
  const otherTokens = isResume ? fresh() : plan.deltaTokens;
  const cost = { tokens, ...(otherTokens !== undefined && { otherTokens }) };
  await parts.store.recordDispatch(
    {
      loop: key,
      iteration,
      ...(request.task !== undefined && { task: request.task }),
      kind: plan.how,
      ...(plan.how === "fallback" && { reason: plan.line }),
      documents: requiredDocuments(references),
      ...cost,
      promptChars: prompt.length,
      ...(plan.snapshot !== undefined && { gitCommit: plan.snapshot }),
    },
    parts.by,
  );
  return {
    kind: "dispatched",
    how: plan.how,
    ...(!isResume && plan.reason !== undefined && { reason: plan.reason }),
    ...(plan.how === "fallback" && { note: plan.line }),
    call: { ...answer.call, prompt },
    ...(isResume && { resume: plan.call }),
    loop: key,
    iteration,
    references,
    inlined: isResume ? [] : answer.inlined,
    problems: [...problems, ...answer.problems, ...uncounted(references)],
    ...cost,
  };
}

/** Documents that are missing from the token numbers. */
function uncounted(references: readonly DocumentFacts[]): string[] {
  return references
    .filter(({ state, text }) => state === "present" && text === undefined)
    .map(({ file }) => `${file}: too large to be counted, so the tokens are without it`);
}

/** The tokens of the prompt, of what its reader then reads (with the tool's line numbers), and of the versions with pasted documents. */
function costOf(
  input: DispatchInput,
  { prompt, references }: { prompt: string; references: readonly DocumentFacts[] },
  { countTokens }: ArtifactParts,
): DispatchCost {
  return {
    sent: countTokens(prompt),
    reads: readTokens(references, countTokens),
    pasted: countTokens(pastedPrompt(input)),
    pastedUnpruned: countTokens(pastedPrompt(input, { documents: "set" })),
  };
}

function readTokens(references: readonly DocumentFacts[], countTokens: ArtifactParts["countTokens"]): number {
  return references.reduce((sum, { text }) => sum + (text === undefined ? 0 : countTokens(numberLines(text))), 0);
}

function codeFiles({ files, base }: DispatchRequest, feature: Feature, problems: string[]): readonly string[] {
  if (files) return files;
  const changed = changedFiles(feature.root, { base });
  // Neither the feature's documents nor our own state are code.
  const code = (changed ?? []).filter(
    (file) => !`/${file}`.startsWith(`/${feature.key}/`) && !/(?:^|\/)\.haversack\//.test(file),
  );
  if (code.length === 0) {
    problems.push(
      base !== undefined && !changed
        ? `git does not know ${base}, so no implementation files are listed; name them`
        : "no implementation files are known: git shows no changes; name them",
    );
  }
  if (code.length > FILES_MAX) problems.push(`${code.length} files have changed; the first ${FILES_MAX} are listed`);
  return code.slice(0, FILES_MAX);
}

function explainRefusal(
  refusal: Exclude<ReturnType<typeof dispatchPrompt>, DispatchPrompt>,
  { role, set }: { role: Role; set: RoleSet },
): string {
  if (refusal.kind === "task-needed") return `${role.name} of ${set.name} works on one task: name it (--task)`;
  const { file, path, state } = refusal;
  return `${role.name} reviews ${file}, and ${path} ${STATE_WORDS[state]}`;
}

// The task that a worker gets: a heading of the feature's tasks.md, or a task of the store.

const TASKS_FILE = "tasks.md";
const STORED_ID = /^[A-Za-z][\w.-]*\d[\w.-]*$/;

export async function findTask(ref: string, feature: Feature, parts: ArtifactParts): Promise<DispatchTask> {
  const path = join(feature.path, TASKS_FILE);
  const { state, text } = readDocument(path, feature);
  const found = text === undefined ? undefined : readTask(text, ref);
  if (found?.kind === "task") return found.task;
  if (found?.kind === "ambiguous") {
    const lines = found.lines.join(", ");
    throw new HaversackError(
      "input-invalid",
      `${path}: ${found.lines.length} headings fit "${cleanLine(ref)}" (lines ${lines})`,
      { hint: `"${cleanLine(ref)}:2" is the second` },
    );
  }
  const stored = STORED_ID.test(ref) ? await storedTask(ref, parts) : undefined;
  if (stored) return stored;
  if (!found) {
    const why = state === "present" ? "is too large to look through" : STATE_WORDS[state];
    throw new HaversackError("not-found", `there is no task "${cleanLine(ref)}": ${path} ${why}`);
  }
  const [guess] = found.nearest;
  throw new HaversackError(
    "not-found",
    `${path} has no task "${cleanLine(ref)}"${guess === undefined ? "" : `; did you mean "${cleanLine(guess)}"?`}`,
  );
}

async function storedTask(id: string, { work, by }: ArtifactParts): Promise<DispatchTask | undefined> {
  try {
    const task = await work.getTask(id, by.at);
    const { title, description = "", acceptanceCriteria, files = [], planFile, planSection } = task;
    const sections = sectionsIn(description);
    const plan = planFile?.slice(planFile.lastIndexOf("/") + 1);
    if (plan !== undefined && planSection !== undefined) sections[plan] = [planSection, ...(sections[plan] ?? [])];
    return {
      subject: title,
      label: task.id,
      description,
      ...(acceptanceCriteria !== undefined && { doneWhen: acceptanceCriteria }),
      files: [...files],
      sections,
    };
  } catch (error) {
    // Not in the store either: the caller reports what tasks.md has.
    if (isFault(error, "not-found") || isFault(error, "input-invalid")) return undefined;
    throw error;
  }
}
