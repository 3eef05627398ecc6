import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { StoreHandle } from "../access.ts";
import { openDatabase } from "../open.ts";
import { PromptLedger } from "./prompt-ledger.ts";

let folder: string;
const open: StoreHandle[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-ledger-"));
});
afterEach(() => {
  for (const { db } of open.splice(0)) db.close();
  rmSync(folder, { recursive: true });
});

function opened(): StoreHandle {
  const handle = openDatabase(join(folder, "haversack.db"), { durability: "normal" });
  open.push(handle);
  return handle;
}

const ANSWER = {
  sessionId: "shared",
  client: "claude-code",
  cwd: "/repo",
  at: new Date("2026-03-02T09:00:00Z"),
  window: 1,
  isFreshStart: true,
  domainHistory: [],
  format: "full",
  text: "keeper",
  tokens: 1,
  shown: [{ skill: "keeper", tokens: 1 }],
  named: [],
  loaded: [],
  prompt: "a zebra",
  explanation: {},
};

it("sees a session as it was at one moment, although another process answers in the middle", () => {
  const [handle, other] = [opened(), opened()];
  const prepare = handle.db.prepare.bind(handle.db);
  let count = 0;
  handle.db.prepare = (...args) => {
    if (++count === 2) new PromptLedger(other).recordAnswer(ANSWER);
    return prepare(...args);
  };
  expect(new PromptLedger(handle).tracking({ sessionId: "shared" })).toMatchObject({ promptCount: 0, ledger: [] });
  expect(count).toBeGreaterThan(2);
  expect(new PromptLedger(handle).tracking({ sessionId: "shared" })).toMatchObject({
    promptCount: 1,
    ledger: [{ skill: "keeper" }],
  });
});
