/** Whether the role map makes sense: wrong keys, roles without documents, documents that nobody reads, rubrics that are gone. */
import { readdirSync } from "node:fs";
import { checkRoleMap } from "../../artifacts/role-map.ts";
import type { ProjectPaths } from "../project.ts";
import type { ArtifactCheck } from "./artifact-operations.ts";
import { loadRoleMap, readRubric } from "./load-role-map.ts";
import { openFeature, readDocuments } from "./open-feature.ts";
import { TEXT_MAX_BYTES } from "./read-document.ts";

/** With a feature also what is wrong with its documents. */
export function checkArtifacts(
  { feature: folder }: { feature?: string | undefined },
  { cwd, paths }: { cwd: string; paths: ProjectPaths },
): ArtifactCheck {
  const { map, problems, file, isShipped } = loadRoleMap(paths);
  const feature = folder === undefined ? undefined : openFeature(folder, { cwd, paths });
  const findings = [...problems, ...checkRoleMap(map, { existing: feature ? filesIn(feature.path) : [] })];
  for (const set of map.sets) {
    for (const role of set.roles) {
      const { problem } = readRubric(role, paths);
      if (problem !== undefined) {
        findings.push({ level: "error", path: `sets.${set.name}.roles.${role.name}.rubric`, text: problem });
      }
    }
  }
  if (feature) {
    const files = map.documents.map((document) => document.file);
    const { documents, problems: wrong } = readDocuments(feature, map, files);
    for (const text of wrong) findings.push({ level: "warning", path: feature.key, text });
    for (const { file: name, state, isNoPrd, text } of documents) {
      if (state === "present" && text === undefined) {
        findings.push({ level: "warning", path: `${feature.key}/${name}`, text: TOO_LARGE });
      }
      if (state === "present" || isNoPrd) continue;
      // A feature grows: what later phases write is not there yet.
      const level = state === "missing" ? "suggestion" : state === "empty" ? "warning" : "error";
      findings.push({ level, path: `${feature.key}/${name}`, text: STATES[state] });
    }
  }
  return {
    file,
    isShipped,
    sets: map.sets.length,
    roles: map.sets.reduce((sum, { roles }) => sum + roles.length, 0),
    documents: map.documents.length,
    findings,
  };
}

const TOO_LARGE = `is larger than ${TEXT_MAX_BYTES / 1_000_000} MB: its text is not read, prompts only name it, and its sections cannot stand in them; split it`;

const STATES = {
  missing: "is not there (yet)",
  empty: "is empty",
  binary: "is no text",
  outside: "leads out of the repository and is not opened",
  unreadable: "cannot be read",
};

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => name);
}
