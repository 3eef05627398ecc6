import { expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { fakeProject } from "../fake-project.suite.ts";
import type { SessionStart } from "./client-event.ts";
import { startSession } from "./start-session.ts";

function started(source: SessionStart["source"], { agentId = "", env = {}, news = "" } = {}) {
  const project = fakeProject();
  const calls: string[] = [];
  const parts = {
    handle: project.handle,
    settings: () => project.settings,
    env,
    now: project.now(),
    process: () => undefined,
    leftEdits: () => "",
    becomeKnown: () => undefined,
    warn: () => undefined,
    wakeSession: () => {
      calls.push("wake");
      return { problems: [] };
    },
    wakeAgain: () => {
      calls.push("wake again");
      return { problems: [], ...(news && { context: news }) };
    },
    checkIndex: () => calls.push("check-index"),
  };
  const event = { source, sessionId: "s1", agentId, cwd: "/repo", client: profileOf("claude-code") };
  const answers = [startSession(event, parts), startSession(event, parts)];
  return { answers, calls, window: project.sessions.getSession({ sessionId: "s1", agentId })?.window };
}

it("looks for work only where there may be some", () => {
  expect(started("startup").calls).toEqual(["check-index", "check-index"]);
  expect(started("startup", { env: { HAVERSACK_AGENT: "june" } }).calls).toContain("wake");
  // The first start is of an unknown session, which has lost nothing. The second is a compaction.
  expect(started("compact").calls).toEqual(["wake again"]);
});

it("only empties the window of a sub-agent that nothing reaches: its coordinator's messages stay unread", () => {
  const env = { HAVERSACK_AGENT: "june" };
  expect(started("clear", { agentId: "a1", env })).toMatchObject({ answers: [{}, {}], window: 2 });
  expect(started("clear", { agentId: "a1", env }).calls).not.toContain("wake");
  expect(started("clear", { env }).calls).toContain("wake");
});

it("tells a session that goes on apart from a new one", () => {
  const env = { HAVERSACK_AGENT: "june" };
  const waked = (source: SessionStart["source"], news = "") =>
    started(source, { env, news }).calls.filter((call) => call.startsWith("wake"));
  expect(waked("startup")).toEqual(["wake", "wake"]);
  expect(waked("clear")).toEqual(["wake", "wake"]);
  // An unknown session counts as new, even if its client says "resume".
  expect(waked("resume")).toEqual(["wake", "wake again"]);
  expect(waked("fork", "It is yours now.")).toEqual(["wake again", "wake again"]);
  // A fork without work of its own may be offered left tasks, like any new session.
  expect(waked("fork")).toEqual(["wake again", "wake", "wake again", "wake"]);
});
