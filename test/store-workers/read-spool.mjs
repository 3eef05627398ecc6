// Reads the spool into the store, slowly: `node read-spool.mjs FILE USER-STATE`. Says when it begins.
import { openForHook } from "../../packages/haversack/src/store/sqlite/access.ts";
import { takeInSpool } from "../../packages/haversack/src/store/sqlite/spool/take-in.ts";

const handle = openForHook(process.argv[2] ?? "", { busyMs: 5000, userState: process.argv[3] });
if (!handle) throw new Error("no store");
process.stdout.write("begins\n");
const { exec } = handle.db;
// Kills should hit it before and after the commit.
handle.db.exec = (sql) => {
  if (sql === "COMMIT") pause(60);
  exec.call(handle.db, sql);
  if (sql === "COMMIT") pause(60);
};
takeInSpool(handle);
pause(20);

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
