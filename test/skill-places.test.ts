/** Where skills can be, through the built bin: links, Codex's own folders, and the tiers of a shipped skill. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";

const text = (name: string) =>
  `---\nname: ${name}\ndescription: Knows everything about ${name}.\n---\n\nBODY-OF-${name}\n`;
const put = (file: string, content: string) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
};
const ids = (project: Scratch) =>
  (project.haversack(["skill", "list", "--json"]).json().skills as { id: string; source: string }[]).map(
    ({ id, source }) => `${id} ${source}`,
  );

describe("links", () => {
  it("of the user's own folder are followed; those that lead out of the project are named, not followed", () => {
    const project = scratchProject();
    const outside = mkdtempSync(join(tmpdir(), "haversack-outside-"));
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
    put(join(outside, "own/SKILL.md"), text("own"));
    put(join(outside, "leak/SKILL.md"), text("leak"));
    put(join(project.root, "shared/near/SKILL.md"), text("near"));
    for (const folder of [join(project.home, ".claude/skills"), join(project.root, ".claude/skills")])
      mkdirSync(folder, { recursive: true });
    symlinkSync(join(outside, "own"), join(project.home, ".claude/skills/own"));
    symlinkSync(join(outside, "leak"), join(project.root, ".claude/skills/leak"));
    symlinkSync("../../shared/near", join(project.root, ".claude/skills/near"));
    symlinkSync("..", join(project.home, ".claude/skills/loop"));
    expect(ids(project)).toEqual(["near .claude/skills", "own ~/.claude/skills"]);
    expect(project.haversack(["skill", "show", "own"]).out).toContain("BODY-OF-own");
    for (const words of [
      ["skill", "list"],
      ["skill", "check"],
    ]) {
      const { out } = project.haversack(words);
      expect(out).toContain("skills/leak");
      expect(out).toContain("the link points outside the project, so it is not followed");
      expect(out).toContain("a folder that contains it, so it is not followed");
    }
    const { findings } = project.haversack(["doctor", "--json"]).json();
    const links = findings.filter(({ part }: { part: string }) => part === "skill links");
    expect(links).toMatchObject([{ level: "warn", text: expect.stringMatching(/^2 ignored: .*\(and 1 more\)$/) }]);
    rmSync(join(project.home, ".claude/skills/own"));
    rmSync(join(project.root, ".claude/skills/near"));
    const none = project.haversack(["skill", "list"]).out;
    expect(none).toContain("No skills found");
    expect(none).toContain("skills/leak");
  });
});

it("skills of Codex' own folders are found, in the project and of the user", () => {
  const project = scratchProject();
  project.write(".codex/skills/mine/SKILL.md", text("mine"));
  put(join(project.home, ".codex/skills/ours/SKILL.md"), text("ours"));
  put(join(project.home, ".codex/skills/.system/hidden/SKILL.md"), text("hidden"));
  expect(ids(project)).toEqual(["mine .codex/skills", "ours ~/.codex/skills"]);
  put(join(project.home, "elsewhere/skills/moved/SKILL.md"), text("moved"));
  const env = { CODEX_HOME: join(project.home, "elsewhere") };
  expect(project.haversack(["skill", "list", "--json"], { env }).json().skills).toMatchObject([
    { id: "mine" },
    { id: "moved" },
  ]);
});

describe("the shipped api-design skill", () => {
  it("has a short core, a quick reference and references that are read on demand", () => {
    const project = scratchProject();
    project.haversack(["workflow", "add", "development"]);
    expect(project.haversack(["skill", "check", "--strict", "api-design"])).toMatchObject({ code: 0 });
    const { out } = project.haversack(["skill", "show", "api-design"]);
    expect(out.split("\n").length).toBeLessThan(50);
    expect(out.match(/api.design/gi)).toHaveLength(2);
    for (const name of ["quick-reference.md", "references/rest-conventions.md", "references/versioning.md"])
      expect(out).toContain(`  - ${name}`);
    expect(out).not.toContain("Semantic versions");
    expect(project.haversack(["skill", "show", "api-design", "--resource", "references/versioning.md"]).out).toContain(
      "Semantic versions",
    );
  });

  it("is reported when its quick reference grows past 20 lines", () => {
    const project = scratchProject();
    project.haversack(["workflow", "add", "development"]);
    project.write(".haversack/skills/api-design/quick-reference.md", "line\n".repeat(21));
    expect(project.haversack(["skill", "check", "api-design"]).out).toContain(
      "the quick reference has 21 lines: keep 20, and move the rest to references/",
    );
  });
});
