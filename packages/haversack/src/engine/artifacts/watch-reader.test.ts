import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Observation } from "../../artifacts/receipts.ts";
import { mayHaveToRead } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { readInjections } from "../../store/sqlite/skills/injections.ts";
import { explainInjection } from "../explain-session.ts";
import { historyPath } from "./append-history.ts";
import { AT, type ScratchFeature, scratchFeature } from "./scratch-feature.suite.ts";
import { addDocuments, expectFromPrompt, judgeReader, noteSeen } from "./watch-reader.ts";

const KEY = { sessionId: "s1", agentId: "a1" };
const CALL = { sessionId: "s1", toolUseId: "t1", agentType: "reviewer" };

function watch({ handle, root }: ScratchFeature, { key = KEY, call = "t1" } = {}) {
  const parts = { handle, agentType: "reviewer", startedBy: () => call || undefined, now: AT };
  return {
    expect: (prompt: string) => expectFromPrompt(prompt, CALL, { handle, now: AT }),
    see: (observation: Observation) => noteSeen(key, { observation: () => observation, cwd: root }, parts),
    end: (sendBack = false) => judgeReader(key, { root, answer: undefined, sendBack: () => sendBack }, parts),
    isAsked: () => mayHaveToRead(handle.db, key),
  };
}

const block = (...paths: string[]) =>
  ["## Required Artifacts", ...paths.map((path, at) => `- D${at}: ${path}`)].join("\n");

it("counts the lines of a block written by hand, and leaves out what cannot be read", () => {
  const feature = scratchFeature();
  const agent = watch(feature);
  expect(agent.expect("Just do it.")).toBe(false);
  expect(agent.expect(block(`${feature.folder}/none.md`))).toBe(false);
  expect(agent.isAsked()).toBe(false);
  expect(agent.expect(block(`${feature.folder}/spec.md`, `${feature.folder}/none.md`))).toBe(true);
  expect(agent.isAsked()).toBe(true);
  agent.see({ tool: "read", path: `${feature.folder}/spec.md`, shownLines: 3 });
  expect(agent.end()).toBeUndefined();
  expect(feature.history()).toContain("reviewer did not confirm artifact reads: spec.md (3 of 7 lines seen)");
  agent.end();
  expect(feature.history().match(/LAZY/g)).toHaveLength(1);
});

it("asks an agent of another call once, and waits while nobody knows its call", () => {
  const feature = scratchFeature();
  const reader = watch(feature);
  reader.expect(block(`${feature.folder}/spec.md`));
  const unknown = watch(feature, { key: { ...KEY, agentId: "a2" }, call: "" });
  const other = watch(feature, { key: { ...KEY, agentId: "a3" }, call: "t9" });
  for (const agent of [unknown, other]) agent.see({ tool: "read", path: `${feature.folder}/spec.md` });
  expect([unknown.isAsked(), other.isAsked(), reader.isAsked()]).toEqual([true, false, true]);
  other.end();
  expect(existsSync(historyPath(feature.folder))).toBe(false);
  reader.see({ tool: "shell", commands: [], outputLines: 0 });
  expect([unknown.isAsked(), reader.isAsked()]).toEqual([false, true]);
});

it("knows a document that was read through a link", () => {
  const feature = scratchFeature();
  const agent = watch(feature);
  symlinkSync(feature.folder, join(feature.root, "link"));
  agent.expect(block(`${feature.folder}/spec.md`));
  agent.see({ tool: "read", path: join(feature.root, "link/spec.md"), shownLines: 7 });
  agent.end();
  expect(existsSync(historyPath(feature.folder))).toBe(false);
});

it("sends back once", () => {
  const feature = scratchFeature();
  const agent = watch(feature);
  agent.expect(block(`${feature.folder}/spec.md`));
  expect(agent.end(true)).toContain(`${feature.folder}/spec.md (all 7 lines)`);
  expect(existsSync(historyPath(feature.folder))).toBe(false);
  expect(agent.end(true)).toBeUndefined();
  expect(feature.history()).toContain("spec.md (0 of 7 lines seen)");
  const [shown, ...others] = readInjections(feature.handle, { sessionId: "s1", limit: 5 }).injections;
  expect(others).toEqual([]);
  expect(shown && explainInjection(shown)).toEqual({
    what: "sub-agent sent back",
    parts: [{ part: "spec.md", because: expect.stringMatching(/^the role .+ has to read it$/) }],
    leftOut: [],
  });
});

it("records a block that is added to a sub-agent's prompt, and why", () => {
  const feature = scratchFeature();
  const call = { sessionId: "s1", toolUseId: "call-9", agentType: "spec-reviewer" };
  const parts = { handle: feature.handle, now: new Date() };
  expect(addDocuments("## Required Artifacts\n- Nothing: /nowhere/spec.md", call, parts)).toBe(false);
  expect(addDocuments(block(`${feature.folder}/spec.md`), call, parts)).toBe(true);
  const [shown] = readInjections(feature.handle, { sessionId: "s1", limit: 5 }).injections;
  expect(shown).toMatchObject({ agentId: "call:call-9", event: "agent-start" });
  expect(shown && explainInjection(shown)).toMatchObject({
    what: "documents added to a sub-agent's prompt",
    parts: [{ part: "spec.md", because: "the role spec-reviewer has to read it" }],
  });
});

it.each(["plain", "link"])(
  "writes nothing into a folder outside of the project (%s), and keeps the receipt",
  async (how) => {
    const feature = scratchFeature();
    const outside = scratchFeature().folder;
    const folder = how === "link" ? join(feature.root, "away") : outside;
    if (how === "link") symlinkSync(outside, folder);
    const agent = watch(feature);
    agent.expect(block(`${folder}/spec.md`));
    agent.end();
    expect(existsSync(historyPath(outside))).toBe(false);
    expect(await feature.parts.store.countReceipts({})).toMatchObject([{ file: "spec.md", missing: 1 }]);
  },
);

it("writes into a linked worktree of the project, under the feature's name in it", async () => {
  const feature = scratchFeature();
  const tree = scratchFeature().root;
  mkdirSync(join(feature.root, ".haversack"));
  const git = join(feature.root, ".git/worktrees/tree");
  mkdirSync(git, { recursive: true });
  writeFileSync(join(git, "commondir"), "../..\n");
  const work = join(tree, "work");
  mkdirSync(join(work, "docs/f"), { recursive: true });
  writeFileSync(join(work, ".git"), `gitdir: ${git}\n`);
  writeFileSync(join(work, "docs/f/spec.md"), "one\ntwo\n");
  const agent = watch(feature);
  agent.expect(block(`${work}/docs/f/spec.md`));
  agent.end();
  expect(readFileSync(historyPath(join(work, "docs/f")), "utf8")).toContain("spec.md (0 of 2 lines seen)");
  expect(feature.handle.db.prepare("SELECT feature FROM receipts").all()).toEqual([{ feature: "docs/f" }]);
});

it("keeps the role that the prompt is for, whatever type the sub-agent has", () => {
  const feature = scratchFeature();
  const agent = watch(feature);
  agent.expect(`Feature: 031-uploads\nRole: security-reviewer\n\n${block(`${feature.folder}/spec.md`)}`);
  agent.end();
  expect(feature.history()).toContain("security-reviewer did not confirm artifact reads: spec.md");
});

it("counts the lines that searches have shown of several documents, whole ones only", () => {
  const feature = scratchFeature();
  const agent = watch(feature);
  writeFileSync(join(feature.folder, "a.md"), "one\ntwo\nthree\n");
  writeFileSync(join(feature.folder, "b.md"), "four\nfive\n");
  agent.expect(block(`${feature.folder}/a.md`, `${feature.folder}/b.md`));
  const name = feature.folder.slice(feature.root.length + 1);
  agent.see({ tool: "search", text: `${name}/a.md:1:one\n${name}/a.md-2-two\n${name}/b.md:4:four` });
  agent.see({ tool: "search", path: `${feature.folder}/b.md`, text: "four\nfive" });
  agent.end();
  expect(feature.history()).toContain("did not confirm artifact reads: a.md (2 of 3 lines seen)\n");
});
