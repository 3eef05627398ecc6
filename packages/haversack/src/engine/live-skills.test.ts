import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LiveSkills, type LiveSkillsOptions } from "./live-skills.ts";
import { KeptProject } from "./open-project.ts";

let root: string;
let now = 0;
let logged: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "haversack-live-"));
  mkdirSync(join(root, ".git"));
  now = 1_000_000;
  logged = [];
  writeSkill("api-errors", "First version.");
});

function writeSkill(name: string, body: string): void {
  const folder = join(root, ".claude/skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: ${name}\ndescription: About ${name}.\n---\n\n${body}\n`);
}

function liveSkills(options: Partial<LiveSkillsOptions> = {}): LiveSkills {
  const env = { HOME: join(root, "home") };
  const log = (_level: string, text: string) => logged.push(text);
  const skills = new LiveSkills({ project: new KeptProject({ cwd: root, env }), now: () => now, log, ...options });
  onTestFinished(() => {
    skills.close();
    rmSync(root, { recursive: true, force: true });
  });
  return skills;
}

const load = (skills: LiveSkills, name = "api-errors") => skills.load({ name, marks: {}, at: new Date(now) });

describe.each([{ kind: "on disk" }, { kind: "in memory" }])("skills of a long process, $kind", ({ kind }) => {
  beforeEach(() => {
    if (kind === "on disk") mkdirSync(join(root, ".haversack"));
  });

  it("sees a change of the files, looking at most every three seconds", () => {
    const skills = liveSkills();
    const first = load(skills);
    expect(first).toMatchObject({ kind: "loaded", text: expect.stringContaining("First version.") });
    const { hash } = first as { hash: string };
    writeSkill("api-errors", "Second version, longer.");
    now += 2_999;
    // The text comes from the file, even if the index is older.
    expect(load(skills)).toMatchObject({ hash, text: expect.stringContaining("Second version, longer.") });
    now += 1;
    const second = load(skills);
    expect(second.text).toContain("Second version, longer.");
    expect(second).not.toMatchObject({ hash });
    writeSkill("pdf-forms", "Forms.");
    now += 3_000;
    expect(skills.search("pdf forms", { limit: 8 })).toMatchObject({ found: [{ id: "pdf-forms" }], total: 2 });
    // "ab" is the beginning of a word of all descriptions, which only the full-text search finds.
    const confidences = skills
      .search("second quokka walrus zebra giraffe ab", { limit: 8 })
      .found.map(({ confidence }) => confidence);
    expect(confidences).toHaveLength(2);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
  });

  it("writes to disk only in a project that has the folder", () => {
    load(liveSkills());
    expect(existsSync(join(root, ".haversack/haversack.db"))).toBe(kind === "on disk");
    expect(logged).toEqual([]);
  });
});

it("moves to the store that is made while it runs", () => {
  const skills = liveSkills();
  load(skills);
  mkdirSync(join(root, ".haversack"));
  expect(load(skills).kind).toBe("loaded");
  expect(existsSync(join(root, ".haversack/haversack.db"))).toBe(true);
});

describe("many new skills at once", () => {
  const many = () => Array.from({ length: 40 }, (_, at) => writeSkill(`skill-${at}`, "Text."));

  it.each([true, false])("are read by another process, and here if that fails: %s", (isDone) => {
    mkdirSync(join(root, ".haversack"));
    many();
    const asked: string[] = [];
    const indexElsewhere = (folder: string) => {
      asked.push(folder);
      if (isDone) liveSkills().checkNow();
      return isDone;
    };
    const skills = liveSkills({ indexElsewhere });
    expect(skills.search("skill", { limit: 8 }).total).toBe(41);
    expect(asked).toEqual([root]);
    writeSkill("one-more", "Text.");
    now += 3_000;
    expect(skills.search("skill", { limit: 8 }).total).toBe(42);
    expect(asked).toHaveLength(1);
  });

  it("are read by another process too when they come while it reads", () => {
    mkdirSync(join(root, ".haversack"));
    many();
    let asked = 0;
    const indexElsewhere = () => {
      liveSkills().checkNow();
      if (++asked === 1) for (let at = 0; at < 40; at++) writeSkill(`later-${at}`, "Text.");
      return true;
    };
    expect(liveSkills({ indexElsewhere }).search("skill", { limit: 8 }).total).toBe(81);
    expect(asked).toBe(2);
  });

  it("are read here in a project without the folder: its index is in memory", () => {
    many();
    const skills = liveSkills({ indexElsewhere: () => expect.unreachable() });
    skills.checkNow();
    expect(skills.search("skill", { limit: 8 }).total).toBe(41);
  });
});

it("checks ahead without a word, and logs a fault that the first question will meet", () => {
  mkdirSync(join(root, ".haversack/haversack.db"), { recursive: true });
  const skills = liveSkills();
  skills.checkNow();
  expect(logged).toEqual([expect.stringContaining("it is a folder")]);
  expect(() => load(skills)).toThrow(/it is a folder/);
});
