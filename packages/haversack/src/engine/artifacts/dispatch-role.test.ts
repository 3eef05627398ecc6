import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleText } from "../../artifacts/sample-feature.suite.ts";
import { expectDocuments, markAgent } from "../../store/sqlite/artifacts/artifact-observations.ts";
import type { Dispatched, DispatchRequest } from "./artifact-operations.ts";
import { checkResume, type ResumableClient, tryResume } from "./check-resume.ts";
import { dispatchRole } from "./dispatch-role.ts";
import { checkArtifacts } from "./load-role-map.ts";
import { recordReview } from "./record-review.ts";
import { AT, reviewAnswer, type ScratchFeature, scratchFeature } from "./scratch-feature.suite.ts";

const FEATURE = "docs/features/031-uploads";

async function dispatched({ parts }: ScratchFeature, request: Partial<DispatchRequest>): Promise<Dispatched> {
  const outcome = await dispatchRole({ role: "design-reviewer", feature: FEATURE, ...request }, parts);
  if (outcome.kind === "refused") throw new Error(outcome.text);
  return outcome;
}

describe("dispatchRole", () => {
  it("counts what is sent, what is read with its line numbers, and what pasting would send", async () => {
    const scratch = scratchFeature();
    const { tokens, references, inlined } = await dispatched(scratch, {});
    expect(references.map(({ file, lineCount }) => [file, lineCount])).toEqual([
      ["prd.md", 7],
      ["spec.md", 7],
    ]);
    expect(inlined).toEqual([{ file: "design.md", what: "whole", lines: 16 }]);
    // Five lines of the PRD have words, and each line of both has a number.
    const words = references.reduce((sum, { text = "" }) => sum + scratch.parts.countTokens(text), 0);
    expect(tokens.reads).toBe(words + 14);
    expect(tokens.pasted).toBeGreaterThan(words);
    const loop = { feature: FEATURE, phase: "design", role: "design-reviewer" };
    expect(await scratch.parts.store.getDispatch(loop, 1)).toMatchObject({ kind: "fresh", tokens });
  });

  it("goes on without a document that is missing, empty, binary or elsewhere, and says so", async () => {
    const scratch = scratchFeature();
    scratch.write(`${FEATURE}/spec.md`, Buffer.from([1, 0, 2]));
    scratch.write(`${FEATURE}/prd.md`, "");
    rmSync(join(scratch.folder, "plan.md"));
    rmSync(join(scratch.folder, "design.md"));
    symlinkSync("/etc/hostname", join(scratch.folder, "design.md"));
    const { problems, references } = await dispatched(scratch, { role: "task-reviewer" });
    expect(references.map(({ state }) => state)).toEqual(["empty", "binary", "outside", "missing"]);
    expect(problems).toEqual([
      `prd.md: is empty (${scratch.folder}/prd.md)`,
      `spec.md: is no text (${scratch.folder}/spec.md)`,
      `design.md: leads out of the repository (${scratch.folder}/design.md)`,
      `plan.md: does not exist (${scratch.folder}/plan.md)`,
    ]);
    expect(await dispatchRole({ role: "design-reviewer", feature: FEATURE }, scratch.parts)).toEqual({
      kind: "refused",
      text: `design-reviewer reviews design.md, and ${scratch.folder}/design.md leads out of the repository`,
    });
  });

  it("finds the PRD in the brainstorm, else says that there is none", async () => {
    const scratch = scratchFeature({ hasPrd: false });
    expect((await dispatched(scratch, {})).call.prompt).toContain(
      "- PRD: No PRD — feature created without brainstorm\n",
    );
    scratch.write("docs/brainstorms/uploads.md", "# Idea\n");
    scratch.write(`${FEATURE}/.meta.json`, '{"brainstorm_source": "docs/brainstorms/uploads.md"}');
    expect((await dispatched(scratch, {})).call.prompt).toContain(
      `- PRD: ${scratch.root}/docs/brainstorms/uploads.md (1 line`,
    );
  });

  it("takes the phase that is under way where a role has several", async () => {
    const scratch = scratchFeature();
    scratch.write(
      `${FEATURE}/.meta.json`,
      '{"phases": {"specify": {"started": 1, "completed": 2}, "design": {"started": 3}}}',
    );
    expect((await dispatched(scratch, { role: "phase-reviewer" })).loop.phase).toBe("design");
  });

  it("works on a task of tasks.md, on one of the store, and names the nearest of neither", async () => {
    const scratch = scratchFeature();
    const worker = { role: "implementer", phase: "implementing" };
    expect((await dispatched(scratch, { ...worker, task: "1" })).call.description).toBe(
      "Implement task 1: Store a chunk",
    );
    const { id } = await scratch.parts.work.createTask(
      { title: "From the queue", planFile: "docs/plan.md", planSection: "#phase-2-client", files: ["src/a.ts"] },
      scratch.parts.by,
    );
    const { call, problems } = await dispatched(scratch, { ...worker, task: id });
    expect(call.prompt).toContain(`${id}: From the queue`);
    expect(call.prompt).toContain("## Plan Context (scoped)");
    expect(call.prompt).toContain("## Files to Work On\n- src/a.ts");
    expect(problems).toEqual([expect.stringContaining("design.md: no heading")]);
    await expect(dispatched(scratch, { ...worker, task: "Store chunk" })).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining('did you mean "Task 1: Store a chunk"?'),
    });
    expect(await dispatchRole({ ...worker, feature: FEATURE }, scratch.parts)).toMatchObject({ kind: "refused" });
  });

  it("lists the code that git says has changed, without the feature's own documents", async () => {
    const scratch = gitFeature();
    scratch.write("src/ü b.ts", "export {};\n");
    scratch.write("src/old.ts", "changed\n");
    scratch.write(".haversack/skills/x/SKILL.md", "ours\n");
    scratch.write(`${FEATURE}/spec.md`, "changed\n");
    const { call } = await dispatched(scratch, { role: "security-reviewer" });
    expect(call.prompt).toContain("## Implementation Files\n- src/old.ts\n- src/ü b.ts\n\n");
    const given = await dispatched(scratch, { role: "security-reviewer", files: ["x.ts"] });
    expect(given.call.prompt).toContain("## Implementation Files\n- x.ts\n\n");
    expect((await dispatched(scratch, { role: "security-reviewer", base: "nowhere" })).problems).toEqual([
      "git does not know nowhere, so no implementation files are listed; name them",
    ]);
  });
});

it("goes on from a history that came with the repository, of its own phase", async () => {
  const scratch = gitFeature();
  const entry = (stage: string, iteration: number, issue: string) =>
    `## ${stage} Review - Iteration ${iteration} - 2030-01-01\n**Reviewer:** phase-reviewer\n**Decision:** Needs Revision\n\n- [blocker] ${issue}\n\n`;
  scratch.write(
    `${FEATURE}/.review-history.md`,
    `# Review History\n\n${entry("Design Phase", 1, "OLD")}${entry("Design Phase", 2, "OF-DESIGN")}${entry("Specify Phase", 3, "OF-SPEC")}`,
  );
  const next = await dispatched(scratch, { role: "phase-reviewer", phase: "design" });
  expect(next.iteration).toBe(3);
  expect(next.problems).toEqual([]);
  expect((await dispatched(scratch, { role: "phase-reviewer", phase: "design", iteration: 5 })).problems).toEqual([
    "iteration 5 of phase-reviewer: the last one recorded is 2, and its review can only be recorded as 3",
  ]);
  expect(next.call.prompt).toContain("This is iteration 3 of 3.");
  expect((await dispatched(scratch, { role: "phase-reviewer", phase: "design", iteration: 5 })).call.prompt).toContain(
    "This is iteration 5, beyond the planned 3.",
  );
  expect(next.call.prompt).toContain("- [blocker] OF-DESIGN");
  expect(next.call.prompt).not.toMatch(/OF-SPEC|OLD/);
  expect((await dispatched(scratch, { role: "design-reviewer" })).iteration).toBe(1);
});

describe("resume", () => {
  it("sends only what has changed, once the client was seen to do it", async () => {
    const scratch = gitFeature({ resume: true });
    await firstIteration(scratch);
    expect(await dispatched(scratch, {})).toMatchObject({ how: "fresh", reason: "client-cannot" });
    await seenToResume(scratch);
    scratch.write(`${FEATURE}/design.md`, `${sampleText("design.md")}fixed\n`);
    scratch.write("src/old.ts", "of no concern for documents\n");
    const next = await dispatched(scratch, { fixSummary: "The limit is a number now." });
    expect(next).toMatchObject({
      how: "resume",
      iteration: 2,
      references: [],
      resume: { way: "sub-agent", tool: { name: "SendMessage", to: "a1" } },
    });
    expect(next.call.prompt).toContain("### Fix Summary\nThe limit is a number now.");
    expect(next.call.prompt).toContain("+fixed\n");
    expect(next.call.prompt).not.toContain("of no concern");
    expect(next.call.prompt).not.toContain("review-history");
    expect(next.tokens.reads).toBe(0);
    expect(next.otherTokens).toBeGreaterThan(next.tokens.sent);
    // The documents were read in the first iteration.
    const answer = reviewAnswer({ approved: true });
    const outcome = await recordReview(
      { role: "design-reviewer", feature: FEATURE, iteration: 2, answer },
      scratch.parts,
    );
    expect(outcome).toMatchObject({ kind: "recorded", review: { agentId: "a1" } });
    expect(outcome).not.toHaveProperty("judgement");
  });

  it("sends what has changed since the last prompt, committed or not, and leaves the repository as it was", async () => {
    const scratch = gitFeature({ resume: true });
    const git = (...words: string[]) => execFileSync("git", words, { cwd: scratch.root, encoding: "utf8" });
    scratch.write(`${FEATURE}/design.md`, `${sampleText("design.md")}seen before\n`);
    scratch.write(`${FEATURE}/notes.md`, "an old note\n");
    const facts = () => [git("count-objects"), git("status", "--porcelain", "--", "src", `${FEATURE}/design.md`)];
    const before = facts();
    await firstIteration(scratch);
    await seenToResume(scratch);
    scratch.write(`${FEATURE}/design.md`, `${sampleText("design.md")}seen before\nnew line\n`);
    scratch.write(`${FEATURE}/limits.md`, "a new file\n");
    const { how, call } = await dispatched(scratch, {});
    expect(how).toBe("resume");
    expect(call.prompt).toContain(" seen before\n+new line\n");
    expect(call.prompt).toContain("+a new file\n");
    expect(call.prompt).not.toContain("an old note");
    expect(facts()).toEqual(before);
  });

  it("goes on with the agent that hooks have seen, where nobody recorded its answer; not from another session", async () => {
    const scratch = gitFeature({ resume: true });
    await dispatched(scratch, {});
    await seenToResume(scratch);
    const key = { sessionId: "s1", agentId: "a7" };
    const expected = { role: "design-reviewer", folder: scratch.folder, iteration: 1, documents: [] };
    expectDocuments(scratch.handle, key, expected, AT);
    const next = (sessionId: string) => {
      const parts = { ...scratch.parts, by: { ...scratch.parts.by, sessionId } };
      return dispatchRole({ role: "design-reviewer", feature: FEATURE, iteration: 2 }, parts);
    };
    expect(await next("s1")).toMatchObject({ how: "fallback", reason: "no-state" });
    markAgent(scratch.handle, key, "settled_at", AT);
    expect(await next("s1")).toMatchObject({ how: "resume", resume: { agentId: "a7" } });
    expect(await next("s2")).toMatchObject({ how: "fallback", reason: "other-session" });
  });

  it("an agent that is gone costs only its own loop the resume", async () => {
    const scratch = gitFeature({ resume: true });
    await firstIteration(scratch);
    await seenToResume(scratch);
    const failure = 'Agent "a1" could not be resumed: No transcript found for agent ID: a1.';
    expect(await dispatched(scratch, { resumeFailure: failure })).toMatchObject({ how: "fallback", reason: "failed" });
    expect(await dispatched(scratch, {})).toMatchObject({ how: "fallback", reason: "failed" });
    expect(await scratch.parts.store.getResumeCheck("claude-code")).toMatchObject({ isOk: true });
  });

  it("a session goes on by a command, once sessions were seen to", async () => {
    const scratch = gitFeature({ resume: true });
    const agentId = "01234567-89ab-4def-8123-456789abcdef";
    await firstIteration(scratch, agentId);
    await seenToResume(scratch);
    expect(await dispatched(scratch, {})).toMatchObject({ how: "fresh", reason: "client-cannot" });
    const { store } = scratch.parts;
    for (const client of ["claude-code sessions", "codex sessions"]) {
      await store.recordResumeCheck({ client, isOk: true, text: "seen", at: AT });
    }
    const claude = ["claude", "-p", "--resume", agentId];
    expect(await dispatched(scratch, {})).toMatchObject({ how: "resume", resume: { way: "session", command: claude } });
    const codex = { ...scratch.parts, client: "codex" };
    expect(await dispatchRole({ role: "design-reviewer", feature: FEATURE }, codex)).toMatchObject({
      how: "resume",
      resume: { command: ["codex", "exec", "resume", agentId, "-"] },
    });
  });

  it("is fresh by default", async () => {
    const scratch = gitFeature();
    await firstIteration(scratch);
    await seenToResume(scratch);
    expect(await dispatched(scratch, {})).toMatchObject({ how: "fresh", reason: "off" });
  });

  it("falls back with the note and a line in the history when it failed or is dearer", async () => {
    const scratch = gitFeature({ resume: true });
    await firstIteration(scratch);
    await seenToResume(scratch);
    scratch.write(`${FEATURE}/notes.md`, "word ".repeat(2_000));
    const large = await dispatched(scratch, {});
    expect(large).toMatchObject({ how: "fallback", reason: "delta-too-large" });
    expect(large.call.prompt).toContain("(Fresh dispatch — prior session unavailable.)");
    const failed = await dispatched(scratch, { resumeFailure: "API error 400" });
    expect(failed).toMatchObject({ how: "fallback", reason: "failed" });
    const answer = reviewAnswer({ approved: true, filesRead: "prd.md (7 lines), spec.md (7 lines)" });
    await recordReview({ role: "design-reviewer", feature: FEATURE, iteration: 2, answer }, scratch.parts);
    expect(scratch.history()).toContain("\nRESUME-FALLBACK: design-reviewer iteration 2 — API error 400\n");
    // A client that failed is not tried again.
    expect(await dispatched(scratch, {})).toMatchObject({ how: "fresh", reason: "client-cannot" });
  });

  it("the trial keeps its outcome, and doctor shows it", async () => {
    const { parts } = scratchFeature();
    const { store } = parts;
    const findings = (isEnabled = true) => checkResume({ isEnabled, clients: ["x"] }, { store });
    const trial = (resume: (word: string) => Promise<{ answer: string }>) => {
      let word = "";
      const client: ResumableClient = {
        client: "x",
        way: "sub-agent",
        start: async (prompt) => {
          word = readFileSync(/file (\S+)\./.exec(prompt)?.[1] ?? "", "utf8").trim();
          return { agentId: "a1", answer: "done" };
        },
        resume: () => resume(word),
      };
      return tryResume(client, { store, env: {}, now: AT });
    };
    expect(await findings(false)).toEqual([]);
    expect(await findings()).toMatchObject([{ level: "warn", text: expect.stringContaining("was never tried") }]);
    await trial(() => Promise.reject(new Error("400 tool_use ids")));
    expect(await findings()).toMatchObject([{ level: "warn", text: "failed: 400 tool_use ids" }]);
    expect(await trial(async () => ({ answer: "I do not know" }))).toMatchObject({ isOk: false });
    expect(await trial(async (word) => ({ answer: `It was ${word}.` }))).toMatchObject({ isOk: true });
    expect(await findings()).toMatchObject([{ part: "x resume", level: "ok" }]);
  });
});

describe("checkArtifacts", () => {
  it("says which document is larger than what is read", () => {
    const scratch = scratchFeature();
    scratch.write(`${FEATURE}/spec.md`, "a line\n".repeat(750_000));
    const { findings } = checkArtifacts({ feature: FEATURE }, scratch.parts);
    expect(findings).toEqual([
      { level: "warning", path: `${FEATURE}/spec.md`, text: expect.stringMatching(/^is larger than 5 MB: its text/) },
    ]);
  });

  it("finds roles without documents, documents that nobody reads, and rubrics that are gone", () => {
    const scratch = scratchFeature();
    const map = {
      documents: { "notes.md": {}, "adr.md": {} },
      sets: {
        one: { roles: { empty: {}, reader: { documents: ["notes.md"], rubric: "gone.md", underReview: "notes.md" } } },
      },
    };
    scratch.write(".haversack/artifacts.json", JSON.stringify(map));
    scratch.write(`${FEATURE}/notes.md`, "");
    const { findings } = checkArtifacts({ feature: FEATURE }, scratch.parts);
    expect(findings.map(({ level, path }) => `${level} ${path}`)).toEqual([
      "error sets.one.roles.empty.documents",
      "warning documents.adr.md",
      ...["design.md", "plan.md", "prd.md", "spec.md", "tasks.md"].map(() => "suggestion documents"),
      "error sets.one.roles.reader.rubric",
      `warning ${FEATURE}/notes.md`,
      `suggestion ${FEATURE}/adr.md`,
    ]);
  });

  it("a map that is no JSON is a fault with its line", () => {
    const scratch = scratchFeature();
    const file = scratch.write(".haversack/artifacts.json", '{\n  "sets": }');
    expect(() => checkArtifacts({}, scratch.parts)).toThrow(`${file}: line 2`);
  });
});

function gitFeature(options: Parameters<typeof scratchFeature>[0] = {}): ScratchFeature {
  const scratch = scratchFeature(options);
  rmSync(join(scratch.root, ".git"), { recursive: true });
  mkdirSync(join(scratch.root, "src"));
  mkdirSync(scratch.parts.paths.state);
  scratch.write("src/old.ts", "old\n");
  // Long enough that a difference is cheaper.
  scratch.write(`${FEATURE}/spec.md`, `${sampleText("spec.md").trimEnd()}${" and more".repeat(300)}\n`);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: scratch.root });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "start");
  return scratch;
}

async function firstIteration(scratch: ScratchFeature, agentId = "a1"): Promise<void> {
  await dispatched(scratch, {});
  const answer = reviewAnswer({ approved: false, filesRead: "prd.md (7 lines), spec.md (7 lines)" });
  const request = { role: "design-reviewer", feature: FEATURE, iteration: 1, answer, agentId };
  await recordReview(request, scratch.parts);
}

async function seenToResume({ parts }: ScratchFeature): Promise<void> {
  await parts.store.recordResumeCheck({ client: "claude-code", isOk: true, text: "seen", at: AT });
}
