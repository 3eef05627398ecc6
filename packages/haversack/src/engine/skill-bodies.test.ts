import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { diskFileSystem } from "../base/file-system.ts";
import { openDatabase, openMemoryStore } from "../store/sqlite/open.ts";
import { SqliteSkillIndex } from "../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../store/sqlite/skills/skill-ledger.ts";
import { freshenIndex, refreshIndex } from "./refresh-index.ts";

const HEAD = "---\nname: forms\ndescription: Fills forms.\n---\n";

function project() {
  const root = mkdtempSync(join(tmpdir(), "haversack-bodies-"));
  const handle = openMemoryStore();
  onTestFinished(() => {
    handle.db.close();
    rmSync(root, { recursive: true });
  });
  const file = (folder: string) => join(root, folder, "forms/SKILL.md");
  const ledger = new SkillLedger(handle);
  return {
    handle,
    index: () => new SqliteSkillIndex(handle.db),
    write(text: string, folder = ".claude/skills") {
      mkdirSync(join(root, folder, "forms"), { recursive: true });
      writeFileSync(file(folder), text);
    },
    remove: (folder = ".claude/skills") => rmSync(file(folder)),
    refresh: () => freshenIndex(handle, { root, env: {}, folders: [] }, { isThorough: true }),
    load: (hash: string) =>
      ledger.recordLoad({
        sessionId: "s",
        at: new Date(),
        window: 1,
        promptNumber: 1,
        skill: "forms",
        hash,
        tokens: 1,
        by: "read",
      }),
    kept: () =>
      handle.db
        .prepare("SELECT body FROM skill_bodies")
        .all()
        .map(({ body }) => String(body).trim()),
  };
}

it("reads a body from its file and does not store it", () => {
  const { write, refresh, index, kept } = project();
  write(`\ufeff${HEAD.replaceAll("\n", "\r\n")}\r\nFirst version.\r\n`);
  refresh();
  const { hash } = index().card("forms")!;
  expect(index().body(hash)).toBe("\nFirst version.\n");
  expect(kept()).toEqual([]);
});

it("keeps the version that a window was given, after its file changed and after it went", () => {
  const { write, refresh, index, load, kept, remove } = project();
  write(`${HEAD}First version.\n`);
  refresh();
  const { hash } = index().card("forms")!;
  load(hash);
  write(`${HEAD}The second version.\n`);
  expect(index().body(hash)).toBe("First version.\n");
  refresh();
  expect(index().body(hash)).toBe("First version.\n");
  expect(index().body(index().card("forms")!.hash)).toBe("The second version.\n");
  remove();
  refresh();
  expect(kept()).toEqual(["First version."]);
});

it("gives the newest text of a file that changed since it was indexed, and keeps none under the hash of another", () => {
  const { write, refresh, index, load, kept } = project();
  write(`${HEAD}First version.\n`);
  refresh();
  const { hash } = index().card("forms")!;
  write(`${HEAD}The second version.\n`);
  load(hash);
  expect(index().body(hash)).toBe("The second version.\n");
  expect(kept()).toEqual([]);
});

it.each([
  ["prose between two rules", "---\nNothing but prose.\n---\nAnd more.\n"],
  ["frontmatter without an end", "---\nname: forms\ndescription: Fills forms.\n# Forms\n\nAll of it.\n"],
])("stores the body of %s, which only a whole reading of the file gives", (_, text) => {
  const { write, refresh, index, kept } = project();
  write(text);
  refresh();
  const [card] = index().listCards();
  expect(kept()).toEqual([index().body(card!.hash)?.trim()]);
  expect(kept()[0]).toContain(text.includes("prose") ? "Nothing but prose." : "All of it.");
});

it("finds the words of a shadowed skill when the nearer one goes", () => {
  const { write, refresh, index, remove } = project();
  write(`${HEAD}Far away: zebras.\n`);
  refresh();
  write(`${HEAD}Near: giraffes.\n`, ".haversack/skills");
  refresh();
  expect(index().search("zebras", 5)).toEqual([]);
  remove(".haversack/skills");
  refresh();
  expect(index().search("zebras", 5)).toHaveLength(1);
  expect(index().postings([".zebra"])).toMatchObject([{ skill: index().card("forms")!.key }]);
  expect(index().postings([".giraff"])).toEqual([]);
});

it("drops the bodies and lists that an older program stored", () => {
  const { handle, write, refresh, index, kept } = project();
  write(`${HEAD}First version.\n`);
  refresh();
  const { hash } = index().card("forms")!;
  handle.db.prepare("INSERT INTO skill_bodies (hash, body) VALUES (?, 'First version.')").run(hash);
  handle.db.exec(
    "UPDATE meta SET value = 'older' WHERE key = 'skill-index'; INSERT INTO terms (term, df, postings) VALUES ('zebrafish', 1, x'0102030405060708')",
  );
  refresh();
  expect(kept()).toEqual([]);
  expect(handle.db.prepare("SELECT count(*) AS count FROM terms WHERE postings IS NOT NULL").get()).toEqual({
    count: 0,
  });
  expect(index().body(hash)).toBe("First version.\n");
});

it("gives the room of an older index back to the disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "haversack-shrink-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "haversack.db");
  const input = {
    roots: [],
    ruleFiles: [],
    ruleTrust: { root: folder, accepted: [] },
    fs: diskFileSystem,
  };
  const before = openDatabase(file, { durability: "normal" });
  refreshIndex(before, input);
  before.db.exec("UPDATE meta SET value = 'older' WHERE key = 'skill-index'");
  before.db.exec(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO skill_bodies SELECT 'h' || i, hex(zeroblob(4000)) FROM n",
  );
  before.db.close();
  expect(statSync(file).size).toBeGreaterThan(8_000_000);
  const after = openDatabase(file, { durability: "normal" });
  refreshIndex(after, input);
  after.db.close();
  expect(statSync(file).size).toBeLessThan(2_000_000);
});
