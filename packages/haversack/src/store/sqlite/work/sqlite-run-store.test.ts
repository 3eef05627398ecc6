import { describe, onTestFinished } from "vitest";
import { describeRunStore } from "../../runs.suite.ts";
import { openMemoryStore } from "../open.ts";
import { SqliteRunStore } from "./sqlite-run-store.ts";

describe("runs in SQLite", () => {
  describeRunStore(() => {
    const handle = openMemoryStore();
    onTestFinished(() => handle.db.close());
    return new SqliteRunStore(handle);
  });
});
