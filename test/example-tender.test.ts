/** The example runs as its README says, and prints what was loaded, when, why and what it saved. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { startModelServer } from "../examples/tender/model-server.ts";

const HERE = join(import.meta.dirname, "../examples/tender");
const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(HERE, file), ...args], {
    cwd: HERE,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });

it("runs against its own model server", () => {
  const { status, stdout, stderr } = run("run.ts");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const parts = stdout.split(/^(?=\d\. \S+: )/m).slice(1);
  const [analysis = "", estimate = "", note = "", migration = "", review = "", summary = ""] = parts;
  expect(parts).toHaveLength(6);
  expect(analysis).toMatch(
    /loaded danish-tender-guidelines for technical-analyst, before its first step: Matched: .*tender.*; \d+ tokens/,
  );
  expect(analysis).toMatch(/> \[FAKTA\] .*\n {3}> \[FAKTA\]/);
  expect(estimate).toContain("the topic changed: complexity-calculator");
  expect(note).toContain("no skill needed, none loaded");
  expect(migration).toContain("loaded complexity-calculator for cost-estimator, when it asked");
  expect(review).toMatch(/kept K\d+: 34017 characters of requirements, shown as a preview; \d+ tokens saved/);
  expect(review).toMatch(/recalled \{"handle":"K\d+","find":"availability"\}/);
  expect(summary).toMatch(/handoff from technical-analyst: \d+ tokens of work, \d+ of handoff/);
  const [, was = "0", is = "0", saved] = /all +(\d+) static +(\d+) dynamic: (\d+)% saved/.exec(stdout) ?? [];
  expect(Number(is)).toBeLessThan(Number(was));
  expect(Number(saved)).toBe(Math.round((1 - Number(is) / Number(was)) * 100));
});

it("runs against any endpoint, once, and prints what the provider counted", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const { stdout } = await promisify(execFile)(process.execPath, [join(HERE, "run.ts")], {
    cwd: HERE,
    env: { PATH: process.env["PATH"], TENDER_BASE_URL: server.baseURL, TENDER_MODEL: "any" },
  });
  expect(stdout).toContain("as the provider counted them");
  expect(stdout).not.toContain("static");
  expect(server.take().length).toBeGreaterThan(10);
});

it("says what is wrong with a provider that is not installed", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(HERE, "run.ts")], {
    cwd: HERE,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], TENDER_PROVIDER: "@ai-sdk/not-installed", TENDER_MODEL: "x" },
  });
  expect(status).toBe(1);
  expect(stderr).toContain("@ai-sdk/not-installed");
});

it("has four agents and three skills, each with reference, asset and script", () => {
  expect(readdirSync(join(HERE, "agents"))).toHaveLength(4);
  const skills = readdirSync(join(HERE, "skills"));
  expect(skills).toEqual(["architecture-analyzer", "complexity-calculator", "danish-tender-guidelines"]);
  for (const skill of skills) {
    for (const kind of ["reference", "assets", "scripts"])
      expect(existsSync(join(HERE, "skills", skill, kind))).toBe(true);
  }
});

it("its scripts work", () => {
  expect(
    run("skills/architecture-analyzer/scripts/list-components.mjs", "documents/architecture.md").stdout.split("\n"),
  ).toContain("case database");
  expect(
    run("skills/complexity-calculator/scripts/points.mjs", "skills/complexity-calculator/assets/estimate-sheet.md")
      .stdout,
  ).toBe("0.0 points, range 0 to 0\n");
});
