/**
 * Who must read what: roles in sets (one set for each phase of the work), with the documents that each needs. Read from
 * `artifacts.json` by read-role-map.ts; the roles of the shipped presets are in presets/.
 */
import { nearest } from "../base/nearest.ts";

/**
 * phase: documents are reviewed, so no implementation files are listed. code: changed files are reviewed or fixed.
 * task: one task is worked on, with sections of the documents inline.
 */
export const DISPATCHES = ["phase", "code", "task"] as const;
export type Dispatch = (typeof DISPATCHES)[number];

export interface RoleMap {
  documents: ArtifactDocument[];
  sets: RoleSet[];
}

export interface ArtifactDocument {
  /** Its name below the feature's folder: `spec.md`. */
  file: string;
  /** As prompts call it: `Spec`. */
  name: string;
  /** Looked for in the brainstorm too, and replaced by a sentence when there is none. */
  isPrd: boolean;
}

export interface RoleSet {
  name: string;
  dispatch: Dispatch;
  /** What a role reads that says nothing else, and what pruning is measured against. */
  documents: string[];
  roles: Role[];
}

export interface Role {
  name: string;
  /** Files, in the order in which they are listed. With the one under review and those of which only sections are shown. */
  documents: string[];
  /** Of the set's documents, those that this role does without. */
  pruned: string[];
  /** This one stands whole in the prompt. */
  underReview?: string;
  /** By file: the sections that stand in the prompt instead of a reference. `task`: those that the task names. */
  sections: Record<string, string[]>;
  /** A file with the role's instructions, relative to artifacts.json. Absent: the shipped text. */
  rubric?: string;
  model?: string;
  /** The client's sub-agent type. */
  agentType?: string;
  /** The name of a shipped answer format, or an example of the JSON that is wanted. */
  answer: string | Record<string, unknown>;
  /** What the dispatch is called. Absent: made from the names. */
  description?: string;
}

/** In `sections`: what the task says it comes from. */
export const TASK_SECTION = "task";

export type FoundRole =
  | { kind: "found"; role: Role; set: RoleSet }
  /** Several sets have that role: a phase must be named. */
  | { kind: "ambiguous"; phases: string[] }
  | { kind: "unknown-role"; nearest: string[] }
  | { kind: "unknown-phase"; nearest: string[] };

/** By its name, or by its sub-agent type as clients report it (`iflow:spec-reviewer`). */
export function findRole(
  { sets }: RoleMap,
  name: string,
  { phase, hasTask = false }: { phase?: string | undefined; hasTask?: boolean } = {},
): FoundRole {
  const wanted = name.trim();
  const all = sets.flatMap((set) => {
    const role =
      set.roles.find((candidate) => candidate.name === wanted) ??
      set.roles.find((candidate) => candidate.agentType === wanted);
    return role ? [{ kind: "found" as const, role, set }] : [];
  });
  if (all.length === 0) {
    const names = sets.flatMap((set) => set.roles.map((role) => role.name));
    return { kind: "unknown-role", nearest: nearest(wanted, names) };
  }
  if (phase !== undefined) {
    // Phases are often named by their command's file.
    const plain = phase.trim().replace(/\.md$/, "");
    const inPhase = all.find(({ set }) => set.name === plain);
    const phases = all.map(({ set }) => set.name);
    return (
      inPhase ?? { kind: "unknown-phase", nearest: nearest(plain, phases).length ? nearest(plain, phases) : phases }
    );
  }
  // A task decides between the worker on one task and the role of the same name that fixes what reviewers found.
  const fitting = all.length === 1 ? all : all.filter(({ set }) => (set.dispatch === "task") === hasTask);
  return fitting.length === 1 ? fitting[0]! : { kind: "ambiguous", phases: all.map(({ set }) => set.name) };
}

/** What a role reads for itself: not what stands in its prompt already. */
export function referencedDocuments({ documents, underReview, sections }: Role): string[] {
  return documents.filter((file) => file !== underReview && !Object.hasOwn(sections, file));
}

export interface MapFinding {
  level: "error" | "warning" | "suggestion";
  /** The path of the value in artifacts.json. */
  path: string;
  text: string;
}

/** `existing`: the documents of a feature's folder. One that no role reads is written for nobody. */
export function checkRoleMap(map: RoleMap, { existing = [] }: { existing?: readonly string[] } = {}): MapFinding[] {
  const findings: MapFinding[] = [];
  if (map.sets.length === 0) findings.push({ level: "error", path: "sets", text: "there are no sets, so no roles" });
  const read = new Set<string>();
  for (const set of map.sets) {
    const path = `sets.${set.name}`;
    if (set.roles.length === 0)
      findings.push({ level: "warning", path: `${path}.roles`, text: "the set has no roles" });
    for (const role of set.roles) {
      for (const file of role.documents) read.add(file);
      const rolePath = `${path}.roles.${role.name}`;
      if (role.documents.length === 0) {
        const text = "the role has no documents: give it some, or take it out of the map";
        findings.push({ level: "error", path: `${rolePath}.documents`, text });
      } else if (set.dispatch === "phase" && role.underReview === undefined) {
        const text = "a role of a phase reviews a document, but none is named as under review";
        findings.push({ level: "warning", path: `${rolePath}.underReview`, text });
      }
    }
  }
  for (const { file } of map.documents) {
    if (read.has(file)) continue;
    findings.push({ level: "warning", path: `documents.${file}`, text: "no role reads this document" });
  }
  const declared = new Set(map.documents.map(({ file }) => file));
  for (const set of map.sets) {
    for (const file of set.documents) {
      if (read.has(file) || declared.has(file)) continue;
      findings.push({ level: "warning", path: `sets.${set.name}.documents`, text: `no role reads ${file}` });
    }
  }
  for (const file of existing) {
    if (read.has(file) || declared.has(file) || !/\.md$/i.test(file)) continue;
    const text = `${file} is in the feature's folder and no role reads it`;
    findings.push({ level: "suggestion", path: "documents", text });
  }
  return findings;
}
