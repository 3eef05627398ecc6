import { describe, expect, it } from "vitest";
import { type PrdFacts, readFeatureMeta, resolvePrd } from "./feature-meta.ts";

const featurePath = "/repo/docs/features/031-x";

function resolve(existing: readonly string[], meta?: unknown, changes: Partial<PrdFacts> = {}) {
  const metaText = meta === undefined ? undefined : typeof meta === "string" ? meta : JSON.stringify(meta);
  return resolvePrd({
    featurePath,
    projectRoot: "/repo",
    metaText,
    exists: (path) => existing.includes(path),
    ...changes,
  });
}

describe("resolvePrd", () => {
  const local = `${featurePath}/prd.md`;
  const brainstorm = "/repo/docs/brainstorms/x.prd.md";
  const source = { brainstorm_source: "docs/brainstorms/x.prd.md" };

  it("takes the feature's own, before the brainstorm", () => {
    expect(resolve([local, brainstorm], source)).toEqual({ kind: "local", path: local });
  });

  it("takes the brainstorm, relative to the repository, to the feature, or absolute", () => {
    expect(resolve([brainstorm], source)).toEqual({ kind: "brainstorm", path: brainstorm });
    expect(resolve([brainstorm], { brainstorm_source: "../../brainstorms/x.prd.md" })).toEqual({
      kind: "brainstorm",
      path: brainstorm,
    });
    expect(resolve([brainstorm], { brainstorm_source: brainstorm })).toEqual({ kind: "brainstorm", path: brainstorm });
  });

  it("has none without a brainstorm, and says why when there should be one", () => {
    expect(resolve([])).toEqual({ kind: "none" });
    expect(resolve([], {})).toEqual({ kind: "none" });
    expect(resolve([], { brainstorm_source: null })).toEqual({ kind: "none" });
    expect(resolve([], source)).toEqual({
      kind: "none",
      problem: ".meta.json: brainstorm_source docs/brainstorms/x.prd.md does not exist",
    });
    expect(resolve([], "{")).toEqual({
      kind: "none",
      problem: ".meta.json: line 1:2: the text ends too early: one “}” is missing",
    });
    expect(resolve([], "[]")).toEqual({ kind: "none", problem: ".meta.json: an object is expected" });
  });

  it("never leads out of the repository", () => {
    for (const path of [
      "/etc/passwd",
      "../../../etc/passwd",
      "../../../../etc/passwd",
      "../repo2/x.md",
      "/repo2/x.md",
    ]) {
      const answer = resolve(["/etc/passwd", "/repo2/x.md"], { brainstorm_source: path });
      expect(answer.kind, path).toBe("none");
      expect(answer.problem, path).toMatch(/outside of the repository|does not exist/);
    }
  });
});

describe("readFeatureMeta", () => {
  it("knows the phase that is under way", () => {
    expect(readFeatureMeta('{"id":"031","slug":"x","branch":"feature/031-x","currentPhase":"design"}')).toEqual({
      id: "031",
      slug: "x",
      branch: "feature/031-x",
      phase: "design",
    });
    const phases = { specify: { started: "a", completed: "b" }, design: { started: "c" } };
    expect(readFeatureMeta(JSON.stringify({ phases })).phase).toBe("design");
    expect(readFeatureMeta(JSON.stringify({ phases: { specify: phases.specify } })).phase).toBeUndefined();
  });
});
