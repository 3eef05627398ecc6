/** A feature's folder: its path, its key in the store, and the documents in it that a role needs. */
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readFeatureMeta, resolvePrd } from "../../artifacts/feature-meta.ts";
import type { DocumentFacts } from "../../artifacts/reference-block.ts";
import type { RoleMap } from "../../artifacts/role-map.ts";
import { cleanLine, readBounded } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { nearestFolder } from "../../base/project-root.ts";
import type { ProjectPaths } from "../project.ts";
import { isInside, readDocument } from "./read-document.ts";

export interface Feature {
  /** Absolute. */
  path: string;
  /** Relative to the repository, with `/`: equal in every clone and worktree. */
  key: string;
  name: string;
  /** The repository or worktree of the folder; documents outside it are not opened. */
  root: string;
  metaText?: string;
  /** The current phase according to `.meta.json`. */
  phase?: string;
}

/** Where the workflow of the shipped roles keeps features. */
const FEATURES_FOLDER = "docs/features";

export function openFeature(given: string, { cwd, paths }: { cwd: string; paths: ProjectPaths }): Feature {
  if (given.trim() === "") throw new HaversackError("input-invalid", "the feature's folder must not be empty");
  const candidates = isAbsolute(given)
    ? [given]
    : [resolve(cwd, given), resolve(paths.root, given), resolve(paths.root, FEATURES_FOLDER, given)];
  const path = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isDirectory());
  if (path === undefined) throw notThere(given, candidates);
  // A linked worktree has its own documents, but its store is in the main repository.
  const hasGit = (folder: string) => existsSync(join(folder, ".git"));
  const root = isInside(path, paths.root) ? paths.root : nearestFolder(path, hasGit);
  if (root === undefined || !isInside(realpathSync(path), realpathSync(root))) {
    throw new HaversackError("input-invalid", `${given} lies outside of the repository (${paths.root})`, {
      hint: "name a folder inside of it",
    });
  }
  const metaText = readBounded(join(path, ".meta.json"), META_MAX_BYTES)?.text;
  const meta = metaText === undefined ? {} : readFeatureMeta(metaText);
  return {
    path,
    key: relative(root, path).replaceAll("\\", "/") || ".",
    name: cleanLine(basename(path)),
    root,
    ...(metaText !== undefined && { metaText }),
    ...(meta.phase !== undefined && { phase: meta.phase }),
  };
}

/** Facts about these files, in this order. */
export function readDocuments(
  feature: Feature,
  map: RoleMap,
  files: readonly string[],
): { documents: DocumentFacts[]; problems: string[] } {
  const problems: string[] = [];
  const documents = files.map((file): DocumentFacts => {
    const { name = file, isPrd = false } = map.documents.find((known) => known.file === file) ?? {};
    const own = join(feature.path, file);
    if (!isPrd) return { file, name, path: own, ...readDocument(own, feature) };
    const prd = resolvePrd({
      featurePath: feature.path,
      projectRoot: feature.root,
      metaText: feature.metaText,
      exists: (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
      file,
    });
    if (prd.problem !== undefined) problems.push(prd.problem);
    if (prd.kind === "none") return { file, name, path: own, state: "missing", isNoPrd: true };
    return { file, name, path: prd.path, ...readDocument(prd.path, feature) };
  });
  return { documents, problems };
}

function notThere(given: string, candidates: readonly string[]): HaversackError {
  const isFile = candidates.some((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (isFile) {
    return new HaversackError("input-invalid", `${given} is a file; a feature is the folder with its documents`);
  }
  const siblings = candidates.flatMap((candidate) => foldersIn(dirname(candidate)));
  const [guess] = nearest(basename(given), siblings);
  return new HaversackError(
    "not-found",
    `there is no folder ${given}${guess === undefined ? "" : `; did you mean ${join(dirname(given), guess)}?`}`,
  );
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // Only used for a suggestion: a missing folder has none.
    return [];
  }
}

const META_MAX_BYTES = 1_000_000;
