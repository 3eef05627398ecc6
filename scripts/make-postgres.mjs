// Makes the operations of the PostgreSQL work store from those of the SQLite one, so that both follow the same rules. SQLite answers synchronously
// and PostgreSQL does not: to-postgres.mjs adds `async` and `await` and nothing else. Differences in SQL are translated when a statement is prepared
// (store/postgres/dialect.ts). The files are not in git. `npm ci`, the build, the checks and the tests call this; it does nothing while they are
// up to date.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const store = join(import.meta.dirname, "../packages/haversack/src/store");
const from = join(store, "sqlite/work");
const to = join(store, "postgres/work");

const FILES = [
  "agents",
  "claims",
  "dependencies",
  "groups",
  "handoffs",
  "ids",
  "last-holders",
  "plan",
  "queue",
  "records/export-records",
  "records/import-dependencies",
  "records/import-events",
  "records/import-records",
  "records/write-record",
  "rows",
  "runs",
  "session-work",
  "status",
  "tasks",
].map((name) => `${name}.ts`);

/** Local state stays in SQLite, and so do the temporary tables for a locked store. */
const REPLACED = [
  [
    "  // While the store is locked, only copies of some tables can be written. The tasks are regained when the spool is read.\n  if (lapsed.length > 0 && isStandIn(db)) return [];\n",
    "",
  ],
  ["  new SkillRows(db).keepBody(hash);\n", ""],
  ['import { SkillRows } from "../skills/skill-index.ts";\n', ""],
];

/** What the two drivers' classes use. */
const WANTED = [
  "sqlite/work/sqlite-work-store.ts",
  "sqlite/work/sqlite-run-store.ts",
  "postgres/postgres-work-store.ts",
  "postgres/postgres-run-store.ts",
  "postgres/claim-next.ts",
  "postgres/apply-entries.ts",
];

const read = (path) => readFileSync(path, "utf8");
const made = FILES.map((file) => join(from, file)).map(read);
const users = WANTED.map((file) => join(store, file)).map(read);
const scripts = ["make-postgres.mjs", "to-postgres.mjs"].map((file) => join(import.meta.dirname, file)).map(read);
const stamp = createHash("sha256")
  .update([...scripts, ...made, ...users].join("\0"))
  .digest("hex");
const stampFile = join(to, ".stamp");

const isFresh = existsSync(stampFile) && read(stampFile) === stamp && FILES.every((file) => existsSync(join(to, file)));
if (!isFresh) {
  // The parser takes a third of a second to load.
  const { importedNames, toPostgres } = await import("./to-postgres.mjs");
  const sources = new Map(FILES.map((file, at) => [file, withReplaced(made[at])]));
  for (const [file, text] of toPostgres(sources, importedNames(users))) put(join(to, file), text);
  put(stampFile, stamp);
}

function withReplaced(text) {
  return REPLACED.reduce((changed, [old, now]) => changed.replace(old, now), text);
}

/** In one step: another process may be reading the file, or making it too. */
function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}
