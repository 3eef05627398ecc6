/** A feature's folder: where it is, what it is called in the store, and the documents in it that a role needs. */
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readFeatureMeta, resolvePrd } from "../../artifacts/feature-meta.ts";
import type { DocumentFacts } from "../../artifacts/reference-block.ts";
import type { RoleMap } from "../../artifacts/role-map.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import type { ProjectPaths } from "../project.ts";
import { isInside, readDocument } from "./read-document.ts";

export interface Feature {
  /** Absolute. */
  path: string;
  /** Relative to the repository, with `/`: the same in every clone and worktree. */
  key: string;
  name: string;
  /** The repository or worktree it is in; documents outside of it are not opened. */
  root: string;
  metaText?: string;
  /** The phase that `.meta.json` says is under way. */
  phase?: string;
}

/** Where features are kept by the workflow that the shipped roles come from. */
const FEATURES_FOLDER = "docs/features";

export function openFeature(given: string, { cwd, paths }: { cwd: string; paths: ProjectPaths }): Feature {
  if (given.trim() === "") throw new HaversackError("input-invalid", "the feature's folder must not be empty");
  const candidates = isAbsolute(given)
    ? [given]
    : [resolve(cwd, given), resolve(paths.root, given), resolve(paths.root, FEATURES_FOLDER, given)];
  const path = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isDirectory());
  if (path === undefined) throw notThere(given, candidates);
  const root = isInside(path, paths.root) ? paths.root : workTreeOf(path);
  if (root === undefined || !isInside(realpathSync(path), realpathSync(root))) {
    throw new HaversackError("input-invalid", `${given} lies outside of the repository (${paths.root})`, {
      hint: "name a folder inside of it",
    });
  }
  const metaText = readOptional(join(path, ".meta.json"));
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

export interface FeatureDocuments {
  documents: DocumentFacts[];
  problems: string[];
}

/** Facts about these files, in this order. */
export function readDocuments(feature: Feature, map: RoleMap, files: readonly string[]): FeatureDocuments {
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
    `There is no folder ${given}${guess === undefined ? "" : `; did you mean ${join(dirname(given), guess)}?`}`,
  );
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // Only for a suggestion: a folder that is not there has none.
    return [];
  }
}

/** A linked worktree keeps its store in the main repository, and its documents in itself. */
function workTreeOf(path: string): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    if (statSync(join(folder, ".git"), { throwIfNoEntry: false })) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

const META_MAX_BYTES = 1_000_000;

function readOptional(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= META_MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    // Most features have none, and one that cannot be opened says as much as none.
    return undefined;
  }
}
