import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../base/config.ts";
import { diskFileSystem } from "../base/file-system.ts";
import { discover, type PromptTracking } from "./discover.ts";
import { CLIENT, evaluateSkills } from "./evaluate-skills.ts";
import { openPool } from "./evaluation-pool.ts";
import { discoverSettings } from "./project.ts";

const SKILLS: Record<string, string> = {
  "pdf-forms": "Fills PDF forms and reads their fields. Use when the user has a PDF with fields.",
  "pdf-merge": "Merges PDF files and splits their pages.",
  "pod-restart": "Restarts pods of a kubernetes cluster.",
  "release-notes": "Writes release notes from commits. Use when a version is published.",
};

function skillFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "eval-"));
  for (const [name, description] of Object.entries(SKILLS)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`);
  }
  return folder;
}

const settings = { recommendThreshold: 0.4, maxSkills: 3 };

it("shows and counts what the first prompt of a window would bring", () => {
  const folder = skillFolder();
  const prompts = [
    "fill the fields of this PDF form",
    "split the pages of these files",
    "publish the pods",
    "merge the pages of the PDF and read the fields of its form",
    "check the version of the files in the cluster",
    "what skills do you have for PDF?",
    "bake bread with rye",
    "continue",
  ];
  const cases = prompts.map((prompt, at) => ({
    id: String(at),
    prompt,
    expected: [],
    negativeFor: [],
    acceptable: [],
    source: "all",
  }));
  const { results } = evaluateSkills(openPool(folder, diskFileSystem), cases, { settings });
  const { index } = openPool(folder, diskFileSystem);
  const ledger = {
    tracking: () => ({ promptCount: 0, window: 0, domainHistory: [], ledger: [], files: [] }),
    recentPrompts: () => [],
    recordAnswer: () => undefined,
    recordSlowPatterns: () => undefined,
  } as unknown as PromptTracking;
  const real = prompts.map((prompt) => {
    const input = { sessionId: "s", client: CLIENT, cwd: folder, prompt, at: new Date(0) };
    const { skills, tokens } = discover(input, { index, ledger, settings: discoverSettings(readConfig([]).config) });
    return { tokens, shown: skills.filter(({ disclosure }) => disclosure === "full").map(({ id }) => id) };
  });
  expect(results.map(({ tokens }) => tokens)).toEqual(real.map(({ tokens }) => tokens));
  expect(results.map(({ ranked }) => ranked.filter(({ shown }) => shown === "card").map(({ id }) => id))).toEqual(
    real.map(({ shown }) => shown),
  );
  // The prompts differ in what they bring: cards, names, nothing.
  expect(new Set(results.flatMap(({ ranked }) => ranked.map(({ shown }) => shown)))).toEqual(
    new Set(["card", "name", false]),
  );
  expect(results.at(-1)).toMatchObject({ tokens: 0 });
});

it("counts a skill that the prompt names as a card, without its text", () => {
  const prompt = "use the pod-restart skill";
  const cases = [{ id: "1", prompt, expected: ["pod-restart"], negativeFor: [], acceptable: [], source: "all" }];
  const { metrics } = evaluateSkills(openPool(skillFolder(), diskFileSystem), cases, { settings });
  expect(metrics).toMatchObject({ cards: 1, in_front: 1 });
  expect(metrics.mean_tokens).toBeLessThan(120);
});

it("says that an expected skill is not in the pool", () => {
  const cases = [{ id: "1", prompt: "", expected: ["none"], negativeFor: [], acceptable: [], source: "all" }];
  const { misses } = evaluateSkills(openPool(skillFolder(), diskFileSystem), cases, { settings });
  expect(misses).toMatchObject([{ kind: "not-found", text: expect.stringContaining("The pool has no skill none.") }]);
});
