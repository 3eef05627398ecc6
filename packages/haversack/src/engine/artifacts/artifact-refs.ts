/** A role's reference block alone, for a prompt that somebody else writes, and one section of a document. */
import { existsSync } from "node:fs";
import { dirname, parse, resolve } from "node:path";
import { purposeOf } from "../../artifacts/dispatch-prompt.ts";
import { extractSection, type Section } from "../../artifacts/extract-section.ts";
import { type DocumentFacts, formatReferenceBlock, STATE_WORDS } from "../../artifacts/reference-block.ts";
import { findRole, referencedDocuments } from "../../artifacts/role-map.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { Task } from "../../work/task.ts";
import type { ProjectPaths } from "../project.ts";
import type { ArtifactRefs } from "./artifact-operations.ts";
import { foldersIn } from "./find-feature-block.ts";
import { loadRoleMap, openRole, readRubric } from "./load-role-map.ts";
import { openFeature, readDocuments } from "./open-feature.ts";
import { isInside, readDocument } from "./read-document.ts";

export function artifactRefs(
  request: { role: string; feature: string; phase?: string | undefined },
  place: { cwd: string; paths: ProjectPaths },
): ArtifactRefs {
  const { map, feature, role, set } = openRole(request, place);
  const { documents, problems } = readDocuments(feature, map, referencedDocuments(role));
  const block = formatReferenceBlock(documents, { purpose: purposeOf({ role, set }) });
  return { role: role.name, phase: set.name, block, documents, problems };
}

export interface ReviewerBrief {
  /** The role's own rubric file. */
  rubric?: string;
  /** "" if there is nothing to read. */
  block: string;
}

/**
 * The references that the project's own role map has for a reviewer of a task's code. The feature is the folder of the task's plan, or the one folder with
 * documents that its text names. Unlike a dispatch, all documents of the role are references: the code is under review.
 */
export function reviewerBrief(
  name: string,
  { planFile, description = "", acceptanceCriteria = "", contextSummary = "" }: Task,
  { cwd, paths }: { cwd: string; paths: ProjectPaths },
): ReviewerBrief {
  const { map, isShipped } = loadRoleMap(paths);
  const text = [description, acceptanceCriteria, contextSummary].join("\n");
  const folders = planFile ? [dirname(resolve(paths.root, planFile))] : foldersIn(text, { cwd, root: paths.root });
  const [folder] = folders;
  const isFolder = folder !== undefined && folders.length === 1 && isInside(folder, paths.root) && existsSync(folder);
  const feature = isFolder ? openFeature(folder, { cwd, paths }) : undefined;
  const found = findRole(map, name);
  const chosen = found.kind === "ambiguous" ? findRole(map, name, { phase: feature?.phase }) : found;
  if (isShipped || chosen.kind !== "found") return { block: "" };
  const { text: rubric } = readRubric(chosen.role, paths);
  const documents = feature ? readDocuments(feature, map, chosen.role.documents).documents : [];
  // A plan in a folder without documents of the role map belongs to no feature.
  const isKnown = documents.some(({ state }) => state === "present");
  return { block: isKnown ? formatReferenceBlock(documents) : "", ...(rubric !== undefined && { rubric }) };
}

/** Returns the section, or throws a fault that offers the nearest heading. Without `heading`, `file` contains it: `design.md#C1`. */
export function readSection(
  given: { file: string; heading?: string | undefined },
  { cwd, paths, isAnywhere = false }: { cwd: string; paths: ProjectPaths; isAnywhere?: boolean },
): Section & { path: string } {
  const { file, heading } = splitSection(given);
  const path = resolve(cwd, file);
  // A person may name any file; an agent only files of the project.
  const { state, text } = readDocument(path, { root: isAnywhere ? parse(path).root : paths.root });
  if (text === undefined) throw unreadable(file, state);
  const answer = extractSection(text, heading);
  const wanted = `"${cleanLine(heading, { maxChars: 200 })}"`;
  if (answer.kind === "found") return { ...answer, path };
  if (answer.kind === "ambiguous") {
    throw new HaversackError(
      "input-invalid",
      `${file}: ${answer.lines.length} headings fit ${wanted} (lines ${answer.lines.join(", ")})`,
      { hint: `${wanted.slice(0, -1)}:2" is the second` },
    );
  }
  const guesses = answer.nearest.map((guess) => `"${cleanLine(guess, { maxChars: 200 })}"`);
  throw new HaversackError(
    "not-found",
    `${file} has no heading ${wanted}${guesses.length === 0 ? "" : `; did you mean ${guesses.join(" or ")}?`}`,
  );
}

function splitSection({ file, heading }: { file: string; heading?: string | undefined }): {
  file: string;
  heading: string;
} {
  if (heading !== undefined) return { file, heading };
  const at = file.indexOf("#");
  if (at <= 0 || at === file.length - 1) {
    throw new HaversackError("input-invalid", `the heading is missing: name it after ${file}, or as ${file}#HEADING`);
  }
  return { file: file.slice(0, at), heading: file.slice(at) };
}

function unreadable(file: string, state: DocumentFacts["state"]): HaversackError {
  if (state === "present") return new HaversackError("input-invalid", `${file} is too large (more than 5 MB)`);
  if (state === "missing") return new HaversackError("not-found", `there is no file ${file}`);
  const code = state === "empty" ? "not-found" : state === "unreadable" ? "file-unreadable" : "input-invalid";
  return new HaversackError(code, `${file} ${STATE_WORDS[state]}${state === "empty" ? ": it has no headings" : ""}`);
}
