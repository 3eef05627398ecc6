/** Compactions, resumed sessions and the session's file in the real client. */
import { expect, it } from "vitest";
import { readFill } from "../../../packages/haversack/src/clients/codex/rollout.ts";
import { messagesText } from "../request-text.ts";
import { developerTexts } from "../responses-request.ts";
import { SUMMARY, steps } from "../script.ts";
import { codexRepo } from "./codex-repo.ts";
import { codexOnce, testServer } from "./codex-test.ts";
import { runCodex } from "./run-codex.ts";
import { shell, spawnAgent } from "./tour.ts";

const config = { model_auto_compact_token_limit: 100_000 };
const FULL = { usage: { inputTokens: 120_000 } };
const names = (repo: ReturnType<typeof codexRepo>) =>
  repo.hooks().map(({ payload }) => `${payload.hook_event_name}:${payload.source ?? payload.trigger ?? ""}`);

it("tells of a compaction by SessionStart, whose text stands behind the summary; earlier texts are gone", async () => {
  const repo = codexRepo();
  repo.recordHooks({
    "SessionStart:compact": "CTX-COMPACT",
    SessionStart: "CTX-SESSION",
    UserPromptSubmit: "CTX-PROMPT",
    PreCompact: "CTX-PRE",
    PostCompact: "CTX-POST",
  });
  const script = steps([{ ...shell("true"), ...FULL }, { text: "end" }]);
  const { server } = await codexOnce("Do the work.", script, { repo, config });
  expect(names(repo).filter((name) => /Compact|SessionStart/.test(name))).toEqual([
    "SessionStart:startup",
    "PreCompact:auto",
    "PostCompact:auto",
    "SessionStart:compact",
  ]);
  expect(server.of("compaction")).toHaveLength(1);
  const [before, after] = server.of("main");
  const text = messagesText(after!);
  expect(text).toContain("Do the work.");
  expect(text.indexOf(SUMMARY)).toBeLessThan(text.indexOf("CTX-COMPACT"));
  expect(text).not.toMatch(/CTX-(?:SESSION|PROMPT|PRE|POST)/);
  // The window has another name.
  expect(before?.windowId).toBe(`${before?.sessionId}:0`);
  expect(after?.windowId).toBe(`${before?.sessionId}:1`);
});

it("begins a resumed session anew, and compacts it before its prompt: two starts, both texts", async () => {
  const repo = codexRepo();
  repo.recordHooks({ "SessionStart:compact": "CTX-COMPACT", "SessionStart:resume": "CTX-RESUME" });
  const server = await testServer(steps([{ text: "one", ...FULL }, { text: "two" }]));
  const { threadId } = await runCodex({ repo, server, prompt: "First.", config });
  const again = await runCodex({ repo, server, prompt: "Second.", resume: threadId, config });
  expect(again.threadId).toBe(threadId);
  expect(names(repo).slice(-7)).toEqual([
    "PreCompact:auto",
    "PostCompact:auto",
    "SessionStart:resume",
    "SessionStart:compact",
    "UserPromptSubmit:",
    "Stop:",
    "SessionEnd:",
  ]);
  expect(developerTexts(server.requests.at(-1)!).slice(-2)).toEqual(["CTX-RESUME", "CTX-COMPACT"]);
});

it("tells of a sub-agent's compaction by PostCompact alone", async () => {
  const script = steps([spawnAgent("Look around."), shell("sleep 2")], {
    kind: "sub-agent",
    n: 1,
    reply: { ...shell("echo from the agent"), ...FULL },
  });
  const { repo, run } = await codexOnce("Go.", script, { config });
  expect(repo.hooks("PostCompact").map(({ payload }) => payload)).toMatchObject([
    { session_id: run.threadId, agent_id: expect.stringMatching(/./) },
  ]);
  expect(repo.hooks("SessionStart").map(({ payload }) => payload.source)).toEqual(["startup"]);
});

it("writes the fill of the window into the session's file", async () => {
  const script = steps([
    { ...shell("true"), usage: { inputTokens: 20_000, outputTokens: 5 } },
    { text: "end", usage: { inputTokens: 30_000 } },
  ]);
  const { repo } = await codexOnce("Go.", script);
  const { transcript_path: rollout } = repo.hooks("Stop")[0]!.payload;
  expect(readFill(String(rollout))).toEqual({ usedTokens: 30_010, windowTokens: 258_400 });
});
