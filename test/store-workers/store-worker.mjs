/**
 * One process of the store's tests: `node store-worker.mjs VERB FILE [JSON]`. Prints JSON lines. A verb that is marked as waiting prints
 * {"ready":true} first and continues when its stdin ends, so that many can start at the same moment.
 */
import { readFileSync, rmSync, writeSync } from "node:fs";
import { restoreStore } from "../../packages/haversack/src/store/sqlite/maintenance/backup.ts";
import { checkStore } from "../../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { sqlite } from "../../packages/haversack/src/store/sqlite/quiet.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";

const [verb, file, json = "{}"] = process.argv.slice(2);
const options = JSON.parse(json);
const print = (value) => writeSync(1, `${JSON.stringify(value)}\n`);
const waitForGo = () => {
  print({ ready: true });
  readFileSync(0);
};
const open = (more = {}) => openDatabase(file, { durability: "full", ...options.open, ...more });
const record = (handle, text) =>
  new SqliteWorkStore(handle).recordActivity({ at: new Date(), actor: "worker", kind: "test", text });

const verbs = {
  async open() {
    waitForGo();
    const { db } = open();
    print({
      version: db.prepare("PRAGMA user_version").get().user_version,
      journal: db.prepare("PRAGMA journal_mode").get().journal_mode,
      tables: db.prepare("SELECT count(*) AS n FROM sqlite_schema").get().n,
    });
  },

  async write() {
    waitForGo();
    const handle = open();
    const ids = [];
    for (let number = 0; number < options.count; number++)
      ids.push((await record(handle, `${process.pid}-${number}`)).id);
    print({ ids });
  },

  /** Never ends by itself. A line is printed after the write was acknowledged, never before. */
  async loop() {
    const handle = open();
    if (options.noCheckpoint) handle.db.exec("PRAGMA wal_autocheckpoint = 0");
    for (let number = 0; ; number++) {
      const text = `${process.pid}-${number}`;
      const { id } = await record(handle, text);
      writeSync(1, `${id} ${text}\n`);
    }
  },

  async read() {
    const handle = open({ readOnly: true });
    const { activity } = await new SqliteWorkStore(handle).listActivity({ limit: 1000 });
    print({ read: activity.length });
  },

  async append() {
    print({ id: (await record(open(), "appended")).id });
  },

  /** Writes until the disk is full, then frees `ballast`, writes once more and checks everything. */
  async fill() {
    const handle = open();
    if (options.maxPages) handle.db.exec(`PRAGMA max_page_count = ${options.maxPages}`);
    const acknowledged = [];
    let refused;
    for (let number = 0; number < 5000 && !refused; number++) {
      await record(handle, "x".repeat(500)).then(
        ({ id }) => acknowledged.push(id),
        (error) => {
          refused = error;
        },
      );
    }
    const { rows } = checkStore(file).facts;
    print({ acknowledged: acknowledged.length, found: rows.activity, ok: checkStore(file).ok });
    if (options.ballast) rmSync(options.ballast);
    if (options.maxPages) handle.db.exec("PRAGMA max_page_count = 4294967294");
    if (options.ballast || options.maxPages) print({ idAfterwards: (await record(handle, "room again")).id });
    throw refused;
  },

  async restore() {
    print({ restoring: true });
    for (;;) for (const from of options.from) restoreStore(file, from);
  },

  /** Holds a lock until stdin ends. `sql` says which. */
  async hold() {
    const db = new sqlite.DatabaseSync(file);
    db.exec(options.sql);
    waitForGo();
  },
};

// Root ignores permissions. Everything is loaded by now, so root's rights can be dropped even if another user cannot read the sources.
if (options.dropRights && process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(65534);
  process.setuid(65534);
}
try {
  await verbs[verb]();
} catch (error) {
  print({ code: error.code ?? error.name, message: error.message, hint: error.hint });
  process.exitCode = 3;
}
