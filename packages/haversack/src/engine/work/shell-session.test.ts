import { expect, it } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { sessionOfShell, sessionVariable } from "./actor.ts";

const CLAUDE = { CLAUDE_CODE_SESSION_ID: "claude-1", CLAUDE_PID: "70" };
const CODEX = { CODEX_SESSION_ID: "codex-1", CODEX_THREAD_ID: "codex-1" };
const OPENCODE = { HAVERSACK_SESSION: "opencode/ses_1", OPENCODE_PID: "60" };

function world() {
  const handle = openMemoryStore();
  const sessions = new SqliteLocalStore(handle);
  return {
    begin: (client: string, sessionId: string, id: number) =>
      sessions.touchSession({ client, sessionId, cwd: "/", at: new Date(0), process: { id, space: "here" } }),
    of: (env: Record<string, string>, ...ids: number[]) =>
      sessionOfShell(env, { handle, above: () => ({ ids, space: "here" }) })?.sessionId,
    handle,
  };
}

it("takes the session from the environment where a client says it", () => {
  const { of, handle } = world();
  expect([of(CLAUDE), of(CODEX), of(OPENCODE), of({})]).toEqual(["claude-1", "codex-1", "ses_1", undefined]);
  const inSubAgent = (env: Record<string, string>) => sessionOfShell(env, { handle });
  expect(inSubAgent({ ...CODEX, CODEX_THREAD_ID: "thread-2" })).toEqual({
    client: "codex",
    sessionId: "codex-1",
    agentId: "thread-2",
  });
  const child = { client: "opencode", sessionId: "ses_1", agentId: "ses_2" };
  expect(inSubAgent({ HAVERSACK_SESSION: sessionVariable(child) })).toEqual(child);
});

it("finds Gemini CLI's by its process", () => {
  const { of, begin } = world();
  expect(of({ GEMINI_CLI: "1" }, 80, 50)).toBeUndefined();
  begin("gemini", "gemini-1", 50);
  begin("gemini", "gemini-2", 51);
  expect(of({ GEMINI_CLI: "1" }, 80, 50)).toBe("gemini-1");
  expect(of({ GEMINI_CLI: "1" }, 80, 99)).toBeUndefined();
});

it("takes the innermost of clients that run in one another's shells", () => {
  const { of, begin } = world();
  begin("codex", "codex-1", 75);
  begin("gemini", "gemini-1", 50);
  expect(of({ ...CLAUDE, ...CODEX }, 90, 75, 70)).toBe("codex-1");
  expect(of({ ...CLAUDE, ...CODEX }, 90, 70, 75)).toBe("claude-1");
  expect(of({ ...CLAUDE, ...OPENCODE }, 90, 60, 70)).toBe("ses_1");
  expect(of({ ...CLAUDE, GEMINI_CLI: "1" }, 90, 50, 70)).toBe("gemini-1");
  expect(of({ ...CLAUDE, GEMINI_CLI: "1" }, 90, 70, 50)).toBe("claude-1");
});
