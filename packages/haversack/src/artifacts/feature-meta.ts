/** The fields of a feature's `.meta.json` that we use, and the location of its PRD. */
import { cleanLine } from "../base/clean-text.ts";
import { isRecord, readJson } from "../base/json.ts";

export interface FeatureMeta {
  id?: string;
  slug?: string;
  branch?: string;
  /** As written in the file, usually relative to the repository. */
  brainstormSource?: string;
  /** The current phase, if the file contains it. */
  phase?: string;
  /** Why nothing could be read. */
  problem?: string;
}

export function readFeatureMeta(text: string): FeatureMeta {
  const { value, problem } = readJson(text);
  if (problem !== undefined) return { problem: `.meta.json: ${problem}` };
  if (!isRecord(value)) return { problem: ".meta.json: an object is expected" };
  const line = (key: string): string | undefined => {
    const found = value[key];
    return typeof found === "string" && found.trim() !== "" ? cleanLine(found, { maxChars: 1_000 }) : undefined;
  };
  const phases = isRecord(value["phases"]) ? Object.entries(value["phases"]) : [];
  const open = phases.filter(([, phase]) => isRecord(phase) && phase["started"] && !phase["completed"]);
  const entries = {
    id: line("id"),
    slug: line("slug"),
    branch: line("branch"),
    brainstormSource: line("brainstorm_source"),
    phase: line("currentPhase") ?? open.at(-1)?.[0],
  };
  return Object.fromEntries(Object.entries(entries).filter(([, found]) => found !== undefined));
}

export const NO_PRD = "No PRD — feature created without brainstorm";

export type PrdAnswer =
  | { kind: "local" | "brainstorm"; path: string; problem?: string }
  /** `problem`: a PRD was expected but not found. */
  | { kind: "none"; problem?: string };

export interface PrdFacts {
  /** The feature's folder, as an absolute path. */
  featurePath: string;
  /** An absolute path. A brainstorm outside this folder is not referenced. */
  projectRoot: string;
  /** Absent: the file does not exist. */
  metaText?: string | undefined;
  exists: (path: string) => boolean;
  /** The PRD's name in the feature's folder. Default: `prd.md`. */
  file?: string;
}

/**
 * The feature's own prd.md, else the brainstorm it was made from, else none. If the named brainstorm does not exist, the result is none
 * with a problem: an unreadable path helps nobody.
 */
export function resolvePrd({ featurePath, projectRoot, metaText, exists, file = "prd.md" }: PrdFacts): PrdAnswer {
  const local = joinPath(featurePath, file);
  if (exists(local)) return { kind: "local", path: local };
  const { brainstormSource: source, problem } = metaText === undefined ? {} : readFeatureMeta(metaText);
  if (source === undefined) return { kind: "none", ...(problem !== undefined && { problem }) };
  const candidates = isAbsolute(source)
    ? [joinPath(source, "")]
    : [joinPath(projectRoot, source), joinPath(featurePath, source)];
  const root = joinPath(projectRoot, "");
  const inside = candidates.filter((path) => path.startsWith(root.endsWith("/") ? root : `${root}/`));
  if (inside.length === 0) {
    return {
      kind: "none",
      problem: `.meta.json: brainstorm_source ${source} lies outside of the repository; not used`,
    };
  }
  const path = inside.find(exists);
  if (path !== undefined) return { kind: "brainstorm", path };
  return { kind: "none", problem: `.meta.json: brainstorm_source ${source} does not exist` };
}

export function isAbsolute(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}

/** Joins with `/` and resolves `.` and `..`. Never goes above the root. */
export function joinPath(base: string, path: string): string {
  const whole = `${base}/${path}`.replaceAll("\\", "/");
  const steps: string[] = [];
  for (const step of whole.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `${/^[A-Za-z]:$/.test(steps[0] ?? "") ? "" : "/"}${steps.join("/")}`;
}
