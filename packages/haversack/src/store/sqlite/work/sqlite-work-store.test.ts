import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentStoreSuite } from "../../agents.suite.ts";
import { workStoreSuite } from "../../work-store.suite.ts";
import type { OpenedWorkStore } from "../../work-under-test.suite.ts";
import type { StoreHandle } from "../access.ts";
import { openDatabase } from "../open.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";

async function openScratch(): Promise<OpenedWorkStore> {
  const folder = mkdtempSync(join(tmpdir(), "haversack-work-"));
  const handles: StoreHandle[] = [];
  const open = () => {
    const handle = openDatabase(join(folder, "haversack.db"), { durability: "full" });
    handles.push(handle);
    return new SqliteWorkStore(handle);
  };
  return {
    store: open(),
    reopen: async () => open(),
    close: async () => {
      for (const handle of handles) handle.db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

workStoreSuite("SQLite", openScratch);
agentStoreSuite("SQLite", openScratch);
