/** The project's role map: `.haversack/artifacts.json`, or the shipped roles while there is none. */
import { join } from "node:path";
import { PRESETS } from "../../artifacts/presets/iflow.ts";
import { readRoleMap } from "../../artifacts/read-role-map.ts";
import { type FoundRole, findRole, type MapFinding, type Role, type RoleMap } from "../../artifacts/role-map.ts";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { MAX_CONFIG_BYTES, readProjectText, type TextRead } from "../../base/read-text.ts";
import type { ProjectPaths } from "../project.ts";
import { readDocument } from "./read-document.ts";

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

/** It comes with the repository. */
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

export type RequiredRole = Extract<FoundRole, { kind: "found" }>;

/** The role, or a fault that names the nearest. `open`: the phase that the feature says is under way. */
export function requireRole(
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
      throw new HaversackError("not-found", `There is no role "${name}"; ${did(found.nearest, known)}`);
    }
  }
}

/** The text of a role's own rubric file; undefined: the shipped one is meant. */
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
