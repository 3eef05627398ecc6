/** The project's role map: `.haversack/artifacts.json`, or the shipped roles if there is none. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PRESETS } from "../../artifacts/presets/iflow.ts";
import { STATE_WORDS } from "../../artifacts/reference-block.ts";
import {
  checkRoleMap,
  type FoundRole,
  findRole,
  type MapFinding,
  type Role,
  type RoleMap,
  readRoleMap,
} from "../../artifacts/role-map.ts";
import { MAX_CONFIG_BYTES, readProjectText, type TextRead } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { putNewFile } from "../../base/safe-write.ts";
import type { LoopKey } from "../../store/artifact-records.ts";
import { ensureStateFolder, type ProjectPaths } from "../project.ts";
import type { ArtifactCheck } from "./artifact-operations.ts";
import { type Feature, openFeature, readDocuments } from "./open-feature.ts";
import { readDocument, TEXT_MAX_BYTES } from "./read-document.ts";

export interface LoadedMap {
  map: RoleMap;
  problems: MapFinding[];
  /** Where it is, or would be. */
  file: string;
  /** There is no such file: the shipped roles are used. */
  isShipped: boolean;
}

export const SHIPPED_PRESET = "iflow";

export function roleMapFile(paths: ProjectPaths): string {
  return join(paths.state, "artifacts.json");
}

/** The file comes with the repository, so it is read with limits. */
export function readRoleMapText(paths: ProjectPaths): TextRead {
  return readProjectText(roleMapFile(paths), { root: paths.root, maxBytes: MAX_CONFIG_BYTES });
}

export function loadRoleMap(paths: ProjectPaths): LoadedMap {
  const file = roleMapFile(paths);
  const text = readText(paths);
  if (text === undefined) {
    return { ...readRoleMap({ extends: SHIPPED_PRESET }, { presets: PRESETS }), file, isShipped: true };
  }
  const { value, problem } = readJson(text);
  if (problem !== undefined) {
    throw new HaversackError("config-invalid", `${file}: ${problem}`, {
      hint: "correct it; until then no role is known",
    });
  }
  return { ...readRoleMap(value, { presets: PRESETS }), file, isShipped: false };
}

export interface OpenRole extends LoadedMap, RequiredRole {
  feature: Feature;
  loop: LoopKey;
}

/** The role that a request names, for its feature. Throws a fault if there is no such feature or role. */
export function openRole(
  { role: name, feature: folder, phase }: { role: string; feature: string; phase?: string | undefined },
  { cwd, paths }: { cwd: string; paths: ProjectPaths },
  { hasTask = false }: { hasTask?: boolean } = {},
): OpenRole {
  const loaded = loadRoleMap(paths);
  const feature = openFeature(folder, { cwd, paths });
  const found = requireRole(loaded.map, name, { phase, hasTask, open: feature.phase });
  return { ...loaded, ...found, feature, loop: { feature: feature.key, phase: found.set.name, role: found.role.name } };
}

type RequiredRole = Extract<FoundRole, { kind: "found" }>;

/** Returns the role, or throws a fault that names the nearest one. `open`: the feature's current phase. */
function requireRole(
  map: RoleMap,
  name: string,
  { phase, hasTask = false, open }: { phase?: string | undefined; hasTask?: boolean; open?: string | undefined },
): RequiredRole {
  const found = findRole(map, name, { phase, hasTask });
  switch (found.kind) {
    case "found":
      return found;
    case "ambiguous": {
      const guessed = open === undefined ? undefined : findRole(map, name, { phase: open });
      if (guessed?.kind === "found") return guessed;
      throw new HaversackError(
        "input-invalid",
        `${name} is a role of ${found.phases.join(", ")}: name one as its phase`,
      );
    }
    case "unknown-phase": {
      const text = `${name} has no phase "${phase}"; `;
      throw new HaversackError("not-found", `${text}${did(found.nearest, "it has none")}`);
    }
    case "unknown-role": {
      const names = [...new Set(map.sets.flatMap(({ roles }) => roles.map((role) => role.name)))];
      const known = names.length === 0 ? "the map has no roles" : `there are ${names.join(", ")}`;
      throw new HaversackError("not-found", `there is no role "${name}"; ${did(found.nearest, known)}`);
    }
  }
}

/** The text of a role's own rubric file. Undefined: use the shipped one. */
export function readRubric({ rubric }: Role, { state }: ProjectPaths): { text?: string; problem?: string } {
  if (rubric === undefined) return {};
  const { state: found, text } = readDocument(join(state, rubric), { root: state });
  if (found === "present" && text !== undefined) return { text };
  return { problem: `rubric ${join(state, rubric)} is ${found}; the shipped text is used` };
}

function did(nearest: readonly string[], otherwise: string): string {
  const [first, ...more] = nearest;
  if (first === undefined) return otherwise;
  return `did you mean ${more.length === 0 ? first : `${nearest.slice(0, -1).join(", ")} or ${nearest.at(-1)}`}?`;
}

function readText(paths: ProjectPaths): string | undefined {
  const read = readRoleMapText(paths);
  if (read?.problem === undefined) return read?.text;
  const kind = read.problem.startsWith("cannot") ? "file-unreadable" : "config-invalid";
  throw new HaversackError(kind, `${roleMapFile(paths)} ${read.problem}`, {
    hint: "replace it with a regular file; until then no role is known",
  });
}

// Writes a starter artifacts.json: the shipped roles by reference, and an example of each kind of change.

export function initArtifacts(paths: ProjectPaths): { file: string; isWritten: boolean } {
  const file = roleMapFile(paths);
  ensureStateFolder(paths);
  return { file, isWritten: putNewFile(file, START, { within: paths.root }) };
}

const START = `${JSON.stringify(
  {
    extends: SHIPPED_PRESET,
    "//": "A set or role of the same name changes only the keys it gives; null removes it. `haversack artifacts check` checks this file.",
    sets: {},
  },
  null,
  2,
)}\n`;

// Checks the role map: wrong keys, roles without documents, documents that nobody reads, missing rubrics.

/** With a feature, also checks its documents. */
export function checkArtifacts(
  { feature: folder }: { feature?: string | undefined },
  { cwd, paths }: { cwd: string; paths: ProjectPaths },
): ArtifactCheck {
  const { map, problems, file, isShipped } = loadRoleMap(paths);
  const feature = folder === undefined ? undefined : openFeature(folder, { cwd, paths });
  const inFolder = feature ? readdirSync(feature.path, { withFileTypes: true }) : [];
  const entries = inFolder.filter((entry) => entry.isFile() && !entry.name.startsWith("."));
  const findings = [...problems, ...checkRoleMap(map, { existing: entries.map(({ name }) => name) })];
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
      // A feature grows: documents of later phases do not exist yet.
      const level = state === "missing" ? "suggestion" : state === "empty" ? "warning" : "error";
      findings.push({ level, path: `${feature.key}/${name}`, text: STATE_WORDS[state] });
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

const TOO_LARGE = `is larger than ${TEXT_MAX_BYTES / 1_000_000} MB: its text is not read, prompts only name it, and its sections cannot be inlined; split it`;
