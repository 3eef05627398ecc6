/** The library as a program uses it: from the built package, with the example of its page. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../packages/haversack/src/artifacts/sample-feature.suite.ts";
import { type Scratch, scratchProject } from "./bins.ts";

const ROOT = join(import.meta.dirname, "..");
const FEATURE = "docs/features/031-uploads";

function libraryProject(): Scratch & { runProgram(text: string): { out: string; err: string } } {
  const project = scratchProject();
  for (const { file } of sampleDocuments()) project.write(`${FEATURE}/${file}`, sampleText(file));
  mkdirSync(join(project.root, "node_modules"));
  symlinkSync(join(ROOT, "packages/haversack"), join(project.root, "node_modules/haversack"));
  const runProgram = (text: string) => {
    writeFileSync(join(project.root, "program.mts"), text);
    const { stdout, stderr } = spawnSync(process.execPath, ["program.mts"], {
      cwd: project.root,
      env: { HOME: project.home, PATH: process.env["PATH"] },
      encoding: "utf8",
    });
    return { out: stdout, err: stderr };
  };
  return { ...project, runProgram };
}

it("the page's example type-checks and runs, and the command line finds what it wrote", () => {
  const project = libraryProject();
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "docs/library.md"), "utf8")) ?? [];
  const { out, err } = project.runProgram(example);
  expect({ out, err }).toEqual({
    out: "spec-reviewer: Spec [ 'prd.md' ]\nrejected 1\nName the limit claimed\n",
    err: "",
  });

  const [loop] = project.haversack(["review", "show", "--feature", FEATURE, "--json"]).json();
  expect(loop).toMatchObject({ role: "spec-reviewer", iterations: [{ verdict: "rejected", by: "reviewer" }] });
  expect(project.haversack(["task", "list"]).out).toContain("Name the limit");

  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "", "program.mts"];
  const console = "declare const console: { log(...values: unknown[]): void };\n";
  writeFileSync(join(project.root, "program.mts"), console + example);
  const checked = spawnSync(join(ROOT, "node_modules/.bin/tsc"), options, { cwd: project.root, encoding: "utf8" });
  expect(checked.stdout).toBe("");
});

it("reads without making anything, refuses as a value, and has every operation", () => {
  const project = libraryProject();
  const { out, err } = project.runProgram(`
import { openHaversack } from "haversack";
const { artifacts, work, root, close } = openHaversack({ root: "${FEATURE}" });
const feature = "031-uploads";
const refs = await artifacts.refs({ role: "design-reviewer", feature });
const section = await artifacts.section({ file: "spec.md", heading: "Requirements" }).catch((error) => error.code);
const check = await artifacts.check();
const audit = await artifacts.audit({ folder: "." });
const receipts = await artifacts.receipts();
const reviews = await artifacts.reviews({ feature });
const status = await work.projectStatus({});
const unknown = await artifacts.dispatch({ role: "spec-reviwer", feature }).catch((error) => [error.code, error.message]);
console.log(JSON.stringify({ root, refs: refs.documents.length, section: typeof section, roles: check.roles > 10,
  files: audit.files, total: receipts.total, reviews, status: typeof status, unknown }));
close();
`);
  expect(err).toBe("");
  expect(JSON.parse(out)).toEqual({
    root: project.root,
    refs: 2,
    section: expect.any(String),
    roles: true,
    files: 5,
    total: 0,
    reviews: [],
    status: "object",
    unknown: ["not-found", expect.stringContaining("did you mean spec-reviewer?")],
  });
  expect(existsSync(join(project.root, ".haversack"))).toBe(false);
});
