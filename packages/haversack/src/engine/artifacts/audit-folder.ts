/** Finds every place in a folder of prompt templates that pastes a document, and its cost per prompt. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { auditTemplate } from "../../artifacts/audit-templates.ts";
import { HaversackError } from "../../base/errors.ts";
import type { TokenCounter } from "../../tokens/count.ts";
import type { ProjectPaths } from "../project.ts";
import type { AuditReport } from "./artifact-operations.ts";
import { loadRoleMap } from "./load-role-map.ts";
import { openFeature, readDocuments } from "./open-feature.ts";

const TEMPLATE = /\.(?:md|mdx|markdown|txt|prompt|toml|ya?ml)$/i;
const SKIPPED = new Set(["node_modules", ".git", ".haversack", "dist", "build"]);
const FILES_MAX = 5_000;
const FILE_MAX_BYTES = 2_000_000;

/** `feature`: the sizes of its documents give the cost of a paste. */
export function auditFolder(
  { folder, feature: featureFolder }: { folder: string; feature?: string | undefined },
  { cwd, paths, countTokens }: { cwd: string; paths: ProjectPaths; countTokens: TokenCounter },
): AuditReport {
  const root = resolve(cwd, folder);
  const stat = statSync(root, { throwIfNoEntry: false });
  if (!stat) throw new HaversackError("not-found", `there is no folder ${folder}`);
  const problems: string[] = [];
  const files = stat.isDirectory() ? templatesIn(root, problems) : [root];
  const sizes = featureFolder === undefined ? undefined : sizesOf(featureFolder, { cwd, paths, countTokens });
  const tokensOf = (document: string): number | undefined => sizes?.get(document.slice(document.lastIndexOf("/") + 1));
  const places = files.flatMap((file) => {
    try {
      const found = auditTemplate(readFileSync(file, "utf8"), { tokensOf });
      return found.map((place) => ({ ...place, file: relative(cwd, file) || file }));
    } catch (error) {
      problems.push(`${relative(cwd, file)}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return [];
    }
  });
  const known = places.filter(({ tokens }) => tokens !== undefined);
  return {
    files: files.length,
    places,
    ...(sizes && { tokens: known.reduce((sum, { tokens = 0 }) => sum + tokens, 0) }),
    problems,
  };
}

function sizesOf(
  folder: string,
  { cwd, paths, countTokens }: { cwd: string; paths: ProjectPaths; countTokens: TokenCounter },
): Map<string, number> {
  const { map } = loadRoleMap(paths);
  const feature = openFeature(folder, { cwd, paths });
  const files = map.documents.map(({ file }) => file);
  const { documents } = readDocuments(feature, map, files);
  return new Map(
    documents.flatMap(({ file, text }) => (text === undefined ? [] : [[file, countTokens(text)] as const])),
  );
}

function templatesIn(root: string, problems: string[]): string[] {
  const found: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        // Do not follow links: they may form a cycle.
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) folders.push(path);
        else if (entry.isFile() && TEMPLATE.test(entry.name) && statSync(path).size <= FILE_MAX_BYTES) found.push(path);
      }
    } catch (error) {
      problems.push(`${folder}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
    if (found.length > FILES_MAX) {
      problems.push(`more than ${FILES_MAX} files; the rest was not looked at`);
      break;
    }
  }
  return found.slice(0, FILES_MAX).sort();
}
