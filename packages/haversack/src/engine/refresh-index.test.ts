import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreHandle } from "../store/sqlite/access.ts";
import { forEachList, unpackBuckets } from "../store/sqlite/skills/pack-lists.ts";
import { bucketName, readList } from "../store/sqlite/skills/skill-index.ts";
import { SkillIndexWriter } from "../store/sqlite/skills/skill-index-writer.ts";
import { fakeProject, RULES_FILE, skillText } from "./fake-project.suite.ts";
import { refreshIndex } from "./refresh-index.ts";

/** Everything the index holds, without the keys that depend on the order in which things were written. */
function contents({ db }: StoreHandle) {
  const all = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => JSON.stringify(row));
  const search = (word: string) =>
    db
      .prepare(
        "SELECT s.path FROM skills_search f JOIN skills s ON s.key = f.rowid WHERE skills_search MATCH ? ORDER BY 1",
      )
      .all(word)
      .map((row) => `${word} ${row["path"]}`);
  return {
    skills: all(
      "SELECT path, id, size, mtime_ms, rank, active, hash, name, description, brief, own_triggers, model_invocable, problems FROM skills ORDER BY path",
    ),
    terms: all("SELECT term, share FROM terms WHERE share IS NOT NULL ORDER BY term"),
    postings: postingsOf(db),
    rules: all("SELECT s.path, r.data FROM skill_rules r JOIN skills s ON s.key = r.skill ORDER BY 1"),
    triggers: all(
      "SELECT s.path, t.stem, t.kind, t.phrase, t.weight FROM triggers t JOIN skills s ON s.key = t.skill ORDER BY 1, 2, 3, 4",
    ),
    patterns: all("SELECT s.path, p.kind, p.source FROM patterns p JOIN skills s ON s.key = p.skill ORDER BY 1, 2, 3"),
    ruleFiles: all("SELECT * FROM rule_files ORDER BY path"),
    bodies: all("SELECT * FROM skill_bodies WHERE hash IN (SELECT hash FROM skills) ORDER BY hash"),
    search: ["deploy", "billing", "invoice", "alpha", "beta"].flatMap(search),
  };
}

/** The index as a rebuild from nothing would make it. */
function rebuilt({ files, roots }: ReturnType<typeof fakeProject>) {
  const other = fakeProject();
  refreshIndex(other.handle, {
    roots,
    ruleFiles: [RULES_FILE],
    ruleTrust: { root: "/elsewhere", accepted: [] },
    fs: files,
  });
  return contents(other.handle);
}

/** Line by line, so that a failure can be read. */
function differences(found: Contents, wanted: Contents): string[] {
  return (Object.keys(wanted) as (keyof Contents)[]).flatMap((table) => [
    ...found[table].filter((line) => !wanted[table].includes(line)).map((line) => `too much in ${table}: ${line}`),
    ...wanted[table].filter((line) => !found[table].includes(line)).map((line) => `missing in ${table}: ${line}`),
    ...(found[table].length === wanted[table].length ? [] : [`${table} has ${found[table].length} rows`]),
  ]);
}

type Contents = ReturnType<typeof contents>;

/** Every row of every list, with the skill's path instead of its key. Rows of inactive skills are marked. */
function postingsOf(db: StoreHandle["db"]): string[] {
  const paths = new Map(
    db
      .prepare("SELECT key, path FROM skills WHERE active = 1")
      .all()
      .map(({ key, path }) => [key, path]),
  );
  return entriesIn(db)
    .map(({ list, skill, weight, fields }) => `${list} ${paths.get(skill) ?? "of no skill"} ${weight} ${fields}`)
    .sort();
}

/** Every entry of every list; a list is named by its bucket and its mark there. */
function entriesIn(db: StoreHandle["db"]) {
  const entries: { list: string; skill: number; weight: number; fields: number }[] = [];
  for (const { term, lists } of db.prepare("SELECT term, lists FROM terms WHERE lists IS NOT NULL").all()) {
    const bytes = lists as Uint8Array;
    forEachList(bytes, (mark, from, end) => {
      const { skills, steps, fields, end: last } = readList({ bytes, from, end });
      for (let at = 0; at < last; at++) {
        entries.push({ list: `${term}/${mark}`, skill: skills[at]!, weight: steps[at]!, fields: fields[at]! });
      }
    });
  }
  return entries;
}

/** Lists that hold a skill twice or out of order, and skills whose row names the wrong buckets. */
function wrongLists({ db }: StoreHandle): string[] {
  const wrong: string[] = [];
  const last = new Map<string, number>();
  const buckets = new Map<number, Set<string>>();
  for (const { list, skill } of entriesIn(db)) {
    if (skill <= (last.get(list) ?? 0)) wrong.push(`${list}: ${skill} is not in order`);
    last.set(list, skill);
    buckets.set(skill, (buckets.get(skill) ?? new Set()).add(list.split("/")[0]!));
  }
  for (const { key, terms } of db.prepare("SELECT key, terms FROM skills WHERE active = 1").all()) {
    const named = unpackBuckets(terms as Uint8Array)
      .map(bucketName)
      .sort();
    const found = [...(buckets.get(Number(key)) ?? [])].sort();
    if (String(named) !== String(found)) wrong.push(`${key}: names ${named}, but is in ${found}`);
  }
  return wrong;
}

const ids = (project: ReturnType<typeof fakeProject>) =>
  project
    .index()
    .listCards()
    .map(({ id }) => id);

const YAML_FOR_PEOPLE = "policy:\n  allow_implicit_invocation: false\n";

describe("refreshIndex", () => {
  it("reads only what changed by size or time", () => {
    const project = fakeProject();
    for (const name of ["alpha", "beta", "gamma"]) project.skill(name, `Use for ${name}.`);
    expect(project.refresh()).toMatchObject({ read: 3, removed: 0, unchanged: 0 });
    project.files.reads = [];
    expect(project.refresh()).toMatchObject({ read: 0, unchanged: 3 });
    expect(project.files.reads).toEqual([]);
    const path = project.skill("beta", "Use for invoices.");
    expect(project.refresh()).toMatchObject({ read: 1, unchanged: 2 });
    expect(project.files.reads).toEqual([path]);
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("does not recommend what Codex' own file beside the skill keeps for people", () => {
    const project = fakeProject();
    project.skill("work", "Takes the next task of the plan.");
    project.files.write("/repo/.claude/skills/work/agents/openai.yaml", YAML_FOR_PEOPLE);
    project.refresh({ isRebuild: true });
    expect(project.index().card("work")).toMatchObject({ modelInvocable: false });
    expect(project.prompt("take the next task of the plan").text).toBe("");
  });

  it("forgets a removed skill", () => {
    const project = fakeProject();
    project.skill("alpha", "Use for invoices.");
    const path = project.skill("beta", "Use for billing.", { more: "triggers:\n  keywords: [billing]\n" });
    project.refresh();
    project.files.remove(path);
    expect(project.refresh()).toMatchObject({ removed: 1, unchanged: 1 });
    expect(ids(project)).toEqual(["alpha"]);
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("lets the nearest of one name win, and the next one when that goes", () => {
    const project = fakeProject();
    const more = (word: string) => `triggers:\n  keywords: [${word}]\n  patterns: ["${word}.*"]\n`;
    project.skill("deploy", "The far one.", { more: more("alpha") });
    project.refresh();
    const near = project.skill("deploy", "The near one.", { near: true, more: more("beta") });
    project.refresh();
    expect(project.index().card("deploy")?.description).toBe("The near one.");
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
    project.files.remove(near);
    project.refresh();
    expect(project.index().card("deploy")?.description).toBe("The far one.");
    expect(project.prompt("alpha").skills[0]).toMatchObject({ id: "deploy" });
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("keeps files that are no skill out of the list, whatever happens around them", () => {
    const project = fakeProject();
    project.files.write("/repo/.claude/skills/one/SKILL.md", "\u0000binary");
    project.files.write("/repo/.claude/skills/two/SKILL.md", "\u0000binary too");
    project.skill("three", "Use for invoices.");
    expect(project.refresh().problems.map(({ code }) => code)).toEqual(["skill-binary", "skill-binary"]);
    project.files.remove("/repo/.claude/skills/one/SKILL.md");
    project.refresh();
    expect(ids(project)).toEqual(["three"]);
    project.files.write("/repo/.claude/skills/one/SKILL.md", "\u0000binary");
    project.refresh();
    project.skill("two", "Use for billing.");
    project.refresh();
    expect(ids(project)).toEqual(["three", "two"]);
  });

  it("does not read a skill or a rules file of many megabytes, and says so", () => {
    const project = fakeProject();
    project.skill("small", "Small okapis.");
    const large = project.skill("large", "Large okapis.", { body: "x".repeat(9_000_000) });
    project.rules(`{"skills": {}}${" ".repeat(9_000_000)}`);
    const { problems } = project.refresh();
    expect(problems.map(({ code, file }) => [code, file === large])).toEqual(
      expect.arrayContaining([
        ["skill-too-large", true],
        ["rules-too-large", false],
      ]),
    );
    expect(project.index().card("small")).toBeDefined();
    expect(project.index().card("large")).toBeUndefined();
  });

  it("tries an unreadable file again, though giving the right to read changes neither size nor time", () => {
    const project = fakeProject();
    const path = project.skill("alpha", "Use for invoices.");
    project.rules({ skills: { alpha: { promptTriggers: { keywords: ["zebra"] } } } });
    project.files.beforeRead = (file) => {
      throw Object.assign(new Error(`EACCES: permission denied, open '${file}'`), { code: "EACCES" });
    };
    const { problems } = project.refresh();
    expect(problems.map(({ code, file }) => [code, file])).toEqual([
      ["skill-unreadable", path],
      ["rules-unreadable", RULES_FILE],
    ]);
    project.files.beforeRead = () => undefined;
    expect(project.refresh().problems).toEqual([]);
    expect(project.prompt("a zebra").skills[0]?.reasons.map(({ feature }) => feature)).toContain("keyword");
  });

  it("says what is wrong with a rules file that is half written, and reads it when it is whole", () => {
    const project = fakeProject();
    project.skill("alpha", "Use for invoices.");
    project.rules('{"skills": {"alpha": {"promptTrig');
    const { problems } = project.refresh();
    expect(problems).toMatchObject([
      { code: "rules-no-json", file: RULES_FILE, text: expect.stringContaining("line 1") },
    ]);
    expect(ids(project)).toEqual(["alpha"]);
    project.rules({ skills: { alpha: { promptTriggers: { keywords: ["zebra"] } } } });
    expect(project.refresh().problems).toEqual([]);
    expect(project.prompt("a zebra").skills[0]).toMatchObject({ id: "alpha" });
  });

  it("sees a rules file that changed between the look at its time and the reading of its text", () => {
    const project = fakeProject();
    project.skill("alpha", "Use for invoices.");
    project.rules({ skills: { alpha: { promptTriggers: { keywords: ["zebra"] } } } });
    project.files.beforeRead = (path) => {
      if (path !== RULES_FILE) return;
      project.files.beforeRead = () => undefined;
      project.rules({ skills: { alpha: { promptTriggers: { keywords: ["giraffe"] } } } });
    };
    project.refresh();
    project.refresh();
    expect(project.prompt("a giraffe").skills[0]).toMatchObject({ id: "alpha" });
    expect(project.prompt("a zebra").skills).toEqual([]);
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("makes a skill of a rule that has none, and gives the rule to the skill when it comes", () => {
    const project = fakeProject();
    project.rules({
      skills: { "pdf-forms": { description: "Fills PDF forms.", promptTriggers: { keywords: ["pdf"] } } },
    });
    expect(project.prompt("fill this pdf").skills[0]).toMatchObject({ id: "pdf-forms", disclosure: "full" });
    expect(project.index().card("pdf-forms")).toMatchObject({ sourceKind: "rule" });
    const path = project.skill("pdf-forms", "The real one.");
    project.refresh();
    expect(project.index().card("pdf-forms")).toMatchObject({ sourceKind: "project", description: "The real one." });
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
    project.files.remove(path);
    project.refresh();
    expect(project.index().card("pdf-forms")).toMatchObject({ sourceKind: "rule" });
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("is made anew when it was made by other rules than this program's", () => {
    const project = fakeProject();
    project.skill("alpha", "Use for invoices.");
    project.refresh();
    const before = contents(project.handle);
    project.handle.db.exec(
      "UPDATE meta SET value = 'older' WHERE key = 'skill-index'; UPDATE terms SET lists = NULL WHERE share IS NULL",
    );
    expect(project.refresh()).toMatchObject({ read: 1 });
    expect(contents(project.handle)).toEqual(before);
  });

  it("stays right when another process rebuilds the index between two of its transactions", () => {
    const project = fakeProject();
    for (let n = 0; n < 230; n++) project.skill(`skill-${n}`, `Use for deploy number ${n} and billing word${n}.`);
    const other = { ...project.handle };
    let isDone = false;
    // More files than one transaction takes.
    project.refresh({
      onProgress: () => {
        if (isDone) return;
        isDone = true;
        project.files.write(
          "/repo/.claude/skills/aaa/SKILL.md",
          skillText("aaa", "Other words come first: zebra, giraffe."),
        );
        refreshIndex(other, {
          roots: project.roots,
          ruleFiles: [RULES_FILE],
          ruleTrust: { root: "/elsewhere", accepted: [] },
          fs: project.files,
          isRebuild: true,
        });
      },
    });
    project.refresh();
    expect(wrongLists(project.handle)).toEqual([]);
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });
});

describe("a kill in the middle", () => {
  const grown = () => {
    const project = fakeProject();
    for (let n = 0; n < 90; n++) {
      project.skill(
        `skill-${n}`,
        `Use for deploy ${n}.`,
        n % 3 === 0 ? { more: `triggers:\n  keywords: [word${n}]\n` } : {},
      );
    }
    project.rules({
      skills: { "skill-3": { promptTriggers: { keywords: ["alpha"] } }, ghost: { keywords: ["beta"] } },
    });
    project.refresh();
    for (let n = 0; n < 90; n += 2) project.skill(`skill-${n}`, `Use for billing ${n}.`);
    for (let n = 1; n < 90; n += 6) project.files.remove(`/repo/.claude/skills/skill-${n}/SKILL.md`);
    project.rules({
      skills: { "skill-7": { promptTriggers: { keywords: ["alpha"] } }, "skill-4": { keywords: ["beta"] } },
    });
    return project;
  };

  it.each([1, 2, 3, 4, 5, 6, 7])("at commit %i is made good by the next refresh", (last) => {
    const project = grown();
    const { db } = project.handle;
    const exec = db.exec.bind(db);
    let commits = 0;
    db.exec = (sql: string) => {
      if (sql === "COMMIT" && ++commits === last) throw new Error("killed");
      exec(sql);
    };
    let isKilled = false;
    try {
      project.refresh();
    } catch (error) {
      expect(String(error)).toContain("killed");
      isKilled = true;
    }
    db.exec = exec;
    expect(isKilled || commits < last).toBe(true);
    expect(wrongLists(project.handle)).toEqual([]);
    project.refresh();
    expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
  });

  it("in a rebuild leaves the old index, never one without background", () => {
    const project = grown();
    const before = contents(project.handle);
    const put = SkillIndexWriter.prototype.putBackground;
    SkillIndexWriter.prototype.putBackground = () => {
      throw new Error("killed");
    };
    try {
      expect(() => project.refresh({ isRebuild: true })).toThrow("killed");
    } finally {
      SkillIndexWriter.prototype.putBackground = put;
    }
    expect(contents(project.handle)).toEqual(before);
  });
});

describe("any sequence of changes", () => {
  const words = fc.constantFrom("deploy", "billing", "invoice", "alpha", "beta", "C#", "node.js", "=", "~python", "");
  const text = fc.array(words, { maxLength: 6 }).map((list) => list.join(" "));
  const name = fc.constantFrom("deploy", "invoice-forms", "c", "x=y", "Ünï", "");
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("write" as const),
      near: fc.boolean(),
      slot: fc.nat(4),
      name,
      text,
      keyword: fc.option(words, { nil: undefined }),
    }),
    fc.record({ kind: fc.constant("remove" as const), near: fc.boolean(), slot: fc.nat(4) }),
    fc.record({ kind: fc.constant("break" as const), near: fc.boolean(), slot: fc.nat(4) }),
    fc.record({ kind: fc.constant("rules" as const), name, keyword: words }),
    fc.record({ kind: fc.constant("refresh" as const) }),
  );

  it("gives the index that a rebuild gives, with lists that are sorted and skills that know their buckets", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) => {
        const project = fakeProject();
        for (const change of steps) {
          const path = `/repo/${"near" in change && change.near ? ".haversack" : ".claude"}/skills/slot-${"slot" in change ? change.slot : 0}/SKILL.md`;
          if (change.kind === "write") {
            const more =
              change.keyword === undefined ? "" : `triggers:\n  keywords: [${JSON.stringify(change.keyword)}]\n`;
            project.files.write(path, skillText(JSON.stringify(change.name), change.text, { more, body: change.text }));
          } else if (change.kind === "remove") project.files.remove(path);
          else if (change.kind === "break") project.files.write(path, "\u0000");
          else if (change.kind === "rules")
            project.rules({ skills: { [change.name || "none"]: { keywords: [change.keyword] } } });
          else {
            project.refresh();
            expect(wrongLists(project.handle)).toEqual([]);
          }
        }
        project.refresh();
        expect(wrongLists(project.handle)).toEqual([]);
        expect(differences(contents(project.handle), rebuilt(project))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
