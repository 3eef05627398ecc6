/** The task that a worker is sent with: a heading of the feature's tasks.md, or a task of the store. */
import { join } from "node:path";
import { type DispatchTask, readTask, sectionsIn } from "../../artifacts/task-section.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError, isFault } from "../../base/errors.ts";
import type { ArtifactParts } from "./artifact-parts.ts";
import type { Feature } from "./open-feature.ts";
import { readDocument } from "./read-document.ts";

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
    throw new HaversackError("not-found", `There is no task "${cleanLine(ref)}": ${path} is ${stateWords(state)}`);
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
    // Not in the store either: the caller says what tasks.md has.
    if (isFault(error, "not-found") || isFault(error, "input-invalid")) return undefined;
    throw error;
  }
}

function stateWords(state: string): string {
  return state === "present" ? "too large to look through" : state;
}
