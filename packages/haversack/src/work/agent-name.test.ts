import { expect, it } from "vitest";
import { clientName, sessionName, shortId } from "./agent-name.ts";

it("calls a client by one name, whatever it says to an MCP server", () => {
  const told = ["claude-code", "codex-mcp-client", "codex", "gemini-cli-mcp-client", "opencode", "cursor-vscode"];
  expect(told.map(clientName)).toEqual(["claude-code", "codex", "codex", "gemini", "opencode", "cursor-vscode"]);
});

it("gives sessions of one minute different names where their ids begin with the time", () => {
  const codex = [
    "01a1ebf3-68db-7122-be65-2bd039ea81bc",
    "01a1ebf3-6c09-7280-bee8-5abcf38b8d40",
    "01a1ebf3-6c0a-7281-a0e8-1111f38b8d41",
  ];
  const opencode = ["ses_e140bdab1ffeHRequbZr57s2b0", "ses_e140bdab1ffedKmIOaDmfUPsD6"];
  for (const ids of [codex, opencode]) expect(new Set(ids.map(shortId)).size).toBe(ids.length);
  expect(sessionName("codex", { sessionId: codex[0]!, agentId: codex[1]! })).toBe("codex-39ea81bc.f38b8d40");
});

it("keeps the beginning of an id that is random from its beginning, and short ids whole", () => {
  expect(shortId("1f2e3d4c-aaaa-4bbb-8ccc-121212121212")).toBe("1f2e3d4c");
  expect(shortId("a1b2c3d4e5f6a7b8c")).toBe("a1b2c3d4");
  expect(sessionName("codex", { sessionId: "thread_1", agentId: "" })).toBe("codex-thread1");
});
