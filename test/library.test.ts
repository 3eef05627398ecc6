/** The library as a program uses it: the built package, with the examples of its docs page. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../packages/haversack/src/artifacts/sample-feature.suite.ts";
import { type Scratch, scratchProject } from "./bins.ts";

const ROOT = join(import.meta.dirname, "..");
const FEATURE = "docs/features/031-uploads";
const SKILL = `---
name: api-errors
description: "Use when an HTTP endpoint must report errors: status codes, problem details, retry hints."
---

# API errors

Return problem details (RFC 9457).
`;
const EXAMPLES = [
  ...readFileSync(join(ROOT, "docs/how-to/use-the-library.md"), "utf8").matchAll(
    /^## (.+)$[\s\S]*?```ts\n([\s\S]*?)```/gm,
  ),
].map(([, title = "", code = ""]) => ({ title, code }));

interface LibraryProject extends Scratch {
  runProgram(text: string): { out: string; err: string };
}

function libraryProject(): LibraryProject {
  const project = scratchProject();
  for (const { file } of sampleDocuments()) project.write(`${FEATURE}/${file}`, sampleText(file));
  project.write(".claude/skills/api-errors/SKILL.md", SKILL);
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

const PRINTED: Record<string, string> = {
  "Find and load skills": 'full api-errors full\nnone ""\nloaded already-loaded\n',
  "Take a task and finish it": "packet true\nchanged\n",
  "Send a reviewer with references": "spec-reviewer: Spec [ 'prd.md' ]\nrejected 1\n",
};

it("the page has the examples that are run here", () => {
  expect(EXAMPLES.map(({ title }) => title)).toEqual(Object.keys(PRINTED));
});

it.each(EXAMPLES)("the page's example type-checks and runs: $title", ({ title, code }) => {
  const project = libraryProject();
  expect(project.runProgram(code)).toEqual({ out: PRINTED[title], err: "" });

  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "", "program.mts"];
  const console = "declare const console: { log(...values: unknown[]): void };\n";
  writeFileSync(join(project.root, "program.mts"), console + code);
  const checked = spawnSync(join(ROOT, "node_modules/.bin/tsc"), options, { cwd: project.root, encoding: "utf8" });
  expect(checked.stdout).toBe("");
});

it("writes what the command line reads: tasks, agents, messages, reviews and what a session was shown", () => {
  const project = libraryProject();
  const { out, err } = project.runProgram(`
import { openProject } from "haversack";
const project = await openProject("${FEATURE}", { agent: "builder" });
await project.agents.add({ name: "builder", role: "implementer" });
await project.agents.add({ name: "june", role: "orchestrator" });
const task = await project.work.createTask({ title: "Name the limit" });
await project.work.claimTask({ taskId: task.id });
const sent = await project.agents.send({ to: ["june"], text: "The limit is 25 MB" });
await project.skills.match("report HTTP error status codes in the endpoint", { session: "chat-1" });
console.log(project.root, sent.to.join());
project.close();
`);
  expect({ out, err }).toEqual({ out: `${project.root} june\n`, err: "" });
  expect(project.haversack(["task", "list", "--status", "in_progress"]).out).toContain("Name the limit");
  expect(project.haversack(["agent", "inbox", "june"]).out).toContain("The limit is 25 MB");
  expect(project.haversack(["why", "--session", "chat-1"]).out).toContain("api-errors");
});

it("reads without making anything, and refuses as a value or with a code", () => {
  const project = libraryProject();
  const { out, err } = project.runProgram(`
import { openProject } from "haversack";
const project = await openProject("${FEATURE}");
const { artifacts, work, skills, root } = project;
const feature = "031-uploads";
const refs = await artifacts.refs({ role: "design-reviewer", feature });
const section = await artifacts.section({ file: "spec.md", heading: "Requirements" }).catch((error) => error.code);
const check = await artifacts.check();
const audit = await artifacts.audit({ folder: "." });
const receipts = await artifacts.receipts();
const reviews = await artifacts.reviews({ feature });
const status = await work.projectStatus({});
const unknown = await artifacts.dispatch({ role: "spec-reviwer", feature }).catch((error) => [error.code, error.message]);
const claimed = await work.claimTask({}).catch((error) => error);
const listed = await skills.list();
const found = await skills.search("HTTP errors");
const missing = await skills.load("api-erors");
const escape = await skills.readResource("api-errors", "../../../program.mts");
const woken = await project.wake({ taskId: "T1000" }).catch((error) => error.code);
const gone = await openProject("nowhere").catch((error) => error.code);
console.log(JSON.stringify({ root, refs: refs.documents.length, section: typeof section, roles: check.roles > 10,
  files: audit.files, total: receipts.total, reviews, status: typeof status, unknown, claimed: claimed.kind,
  listed: listed.map(({ id, source }) => [id, source]), found: found[0].id, missing: [missing.kind, missing.nearest],
  escape: escape.kind, woken, gone }));
project.close();
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
    claimed: "nothing-ready",
    listed: [["api-errors", ".claude/skills"]],
    found: "api-errors",
    missing: ["unknown", ["api-errors"]],
    escape: "refused",
    woken: "not-found",
    gone: "not-found",
  });
});

it("uses no store that came with a clone, and stays silent when Haversack is off", () => {
  const origin = libraryProject();
  origin.haversack(["task", "create", "FORGED TASK"]);
  const project = libraryProject();
  execFileSync("cp", ["-r", join(origin.root, ".haversack"), project.root]);
  const program = `
import { openProject } from "haversack";
const project = await openProject(".");
const outcome = (promise) => promise.then(() => "answered", (error) => [error.name, error.code]);
console.log(JSON.stringify([
  await outcome(project.work.listTasks({})),
  await outcome(project.work.createTask({ title: "x" })),
  await outcome(project.skills.match("report HTTP errors")),
  await outcome(project.wake({})),
  await outcome(project.agents.list()),
  await outcome(project.artifacts.receipts()),
]));
project.close();
`;
  const refused = ["HaversackError", "store-untrusted"];
  expect(JSON.parse(project.runProgram(program).out)).toEqual(Array(6).fill(refused));

  expect(origin.haversack(["off"]).code).toBe(0);
  const { out } = origin.runProgram(`
import { openProject } from "haversack";
const project = await openProject(".");
console.log(JSON.stringify(await project.skills.match("the endpoint must report HTTP error status codes")));
project.close();
`);
  expect(JSON.parse(out)).toEqual({ format: "none", text: "", tokens: 0, skills: [] });
});

it("exports what is meant for programs, and nothing else", () => {
  const project = libraryProject();
  const { out } = project.runProgram(`
import * as haversack from "haversack";
console.log(Object.keys(haversack).join());
for (const path of ["haversack/dist/index.js", "haversack/dist/cli.cjs", "haversack/src/index.ts"])
  console.log(await import(path).then(() => "found", (error) => error.code));
`);
  const hidden = "ERR_PACKAGE_PATH_NOT_EXPORTED\n".repeat(3);
  expect(out).toBe(`HaversackError,estimateTokens,openProject,version\n${hidden}`);
  expect(existsSync(join(project.root, ".haversack"))).toBe(false);
});

it("reports a wrong setting to onWarning and uses its default", () => {
  const project = libraryProject();
  project.write(".haversack/config.json", '{"skills": {"max_skills": "many"}}');
  const { out, err } = project.runProgram(`
import { openProject } from "haversack";
const project = await openProject(".", { onWarning: (text) => console.log(text) });
console.log((await project.skills.list()).length);
project.close();
`);
  expect(err).toBe("");
  expect(out).toMatch(/config\.json: skills\.max_skills must be a whole number .*; 3 is used instead\n1\n$/);
});
