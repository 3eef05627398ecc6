import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
// @ts-expect-error: a script without types
import { strayTables, unownedTables } from "../scripts/check-tables.mjs";

function strayIn(files: Record<string, string>): string[] {
  const src = mkdtempSync(join(tmpdir(), "check-tables-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(src, path)), { recursive: true });
      writeFileSync(join(src, path), text);
    }
    return strayTables(src);
  } finally {
    rmSync(src, { recursive: true, force: true });
  }
}

it("finds SQL for a work table outside of its owner's folder", () => {
  const sql = 'db.prepare("SELECT s.id FROM sessions s JOIN claims c ON c.session_id = s.session_id");';
  expect(strayIn({ "store/sqlite/sessions/a.ts": sql, "store/sqlite/work/events/b.ts": sql })).toEqual([
    "store/sqlite/sessions/a.ts: SQL for claims, which belongs to store/sqlite/work/",
  ]);
  expect(strayIn({ "engine/a.ts": 'db.exec("UPDATE OR IGNORE tasks SET title = 1");' })).toHaveLength(1);
  expect(strayIn({ "engine/a.test.ts": 'db.exec("DELETE FROM tasks");' })).toEqual([]);
});

it("finds SQL for a local table inside the work store", () => {
  const sql = "db.prepare(`SELECT 1\nFROM sessions`);";
  expect(strayIn({ "store/sqlite/work/claims.ts": sql })).toEqual([
    "store/sqlite/work/claims.ts: SQL for sessions, which belongs to store/sqlite/sessions/",
  ]);
});

it("finds an import past the doors of the work store", () => {
  const files = {
    "engine/good.ts":
      'import { a } from "../store/sqlite/work/sqlite-work-store.ts";\nimport { b } from "../store/sqlite/work/events/b.ts";',
    "engine/bad.ts": 'import { claim } from "../store/sqlite/work/claims.ts";',
  };
  expect(strayIn(files)).toEqual([
    "engine/bad.ts: imports store/sqlite/work/claims.ts; go through WorkStore, or in events through store/sqlite/work/events/",
  ]);
});

it("finds a table that has no owner", () => {
  expect(unownedTables("CREATE TABLE novelties (\n")).toContain("novelties has no owner in scripts/check-tables.mjs");
});
