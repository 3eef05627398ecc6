import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startedBy } from "./transcripts.ts";

function transcript(meta: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "haversack-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "s1/subagents"), { recursive: true });
  for (const [agent, text] of Object.entries(meta)) {
    writeFileSync(join(folder, `s1/subagents/agent-${agent}.meta.json`), text);
  }
  return join(folder, "s1.jsonl");
}

it("reads the call from the file beside the sub-agent's transcript", () => {
  const path = transcript({ a1: '{"agentType":"x","toolUseId":"toolu_1"}', a2: '{"toolUseId":"toolu_2"}' });
  expect(startedBy(path, "a1")).toBe("toolu_1");
  expect(startedBy(path, "a2")).toBe("toolu_2");
});

it("knows nothing from a file that is missing, half written or of another shape, or an id that is a path", () => {
  const path = transcript({ a1: '{"agentType":"x","toolU', a2: "{}", a3: "" });
  for (const agent of ["a1", "a2", "a3", "a4", "", "../a1", "a/b"]) expect(startedBy(path, agent)).toBeUndefined();
  expect(startedBy(undefined, "a1")).toBeUndefined();
});
