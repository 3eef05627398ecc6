// Holds the store's lock until its standard input ends: `node hold-lock.mjs FILE write|all`. `all`: nobody can read either.
import { DatabaseSync } from "node:sqlite";

const [file, what] = process.argv.slice(2);
const db = new DatabaseSync(file, { timeout: 10_000 });
if (what === "all") db.exec("PRAGMA locking_mode = EXCLUSIVE");
db.exec("BEGIN IMMEDIATE");
// In exclusive mode the lock on all is taken with the first write.
if (what === "all") db.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('held', 'x')");
process.stdout.write("held\n");
process.stdin.resume();
process.stdin.on("end", () => {
  db.exec("ROLLBACK");
  db.close();
});
