import { expect, it } from "vitest";
import { SETTINGS } from "../base/config-schema.ts";
import { STREAMED } from "./streamed.ts";

it("starts no client with an option that gives permissions", () => {
  for (const { begin, end, env, title } of Object.values(STREAMED)) {
    const words = [...begin, ...end, ...Object.keys(env)].join(" ");
    expect(words, title).not.toMatch(
      /danger|skip|bypass|yolo|auto|allow|permission|approv|sandbox|trust|full-access|workspace-write/i,
    );
  }
});

it("starts a new session each time: what goes on is the work in progress, not a client's session", () => {
  for (const { begin, end, chooseId, title } of Object.values(STREAMED)) {
    const words = [...begin, ...end, ...(chooseId?.("u") ?? [])].join(" ");
    expect(words, title).not.toMatch(/resume|fork|continue|--last|(^| )-[cs]( |$)/);
  }
});

it("keeps Claude Code's shells from holding a session open, and Gemini CLI from starting itself again", () => {
  expect(STREAMED["claude-code"]?.env).toEqual({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" });
  expect(STREAMED["gemini"]?.env).toEqual({ GEMINI_CLI_NO_RELAUNCH: "true" });
});

it("chooses the session's id where the client lets it, and compares the window with Gemini CLI's own compaction", () => {
  expect(STREAMED["claude-code"]?.chooseId?.("u")).toEqual(["--session-id", "u"]);
  expect(STREAMED["gemini"]?.chooseId?.("u")).toEqual(["--session-id", "u"]);
  expect([STREAMED["codex"]?.chooseId, STREAMED["opencode"]?.chooseId]).toEqual([undefined, undefined]);
  expect(STREAMED["gemini"]?.compactsAt).toBe(0.5);
});

it("waits longer for a sign of life than any client tries a failing server in silence", () => {
  const slowestRetrySeconds = 214;
  expect(SETTINGS["headless.quiet_minutes"].default * 60).toBeGreaterThan(2 * slowestRetrySeconds);
});

it("says for every client which version it needs, and for what", () => {
  for (const { oldest } of Object.values(STREAMED)) {
    expect(oldest).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      needs: expect.stringMatching(/.{8,}/),
    });
  }
});
