import { describe, expect, it } from "vitest";
import type { FailureReason } from "../clients/stream-event.ts";
import { AwakeClock } from "./awake-clock.ts";
import { backOffMs, batchOutcome, brakeOf, isCircling } from "./brakes.ts";
import { SessionHealth } from "./session-health.ts";
import { StopSwitch } from "./stop-switch.ts";

const usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 100, costUsd: 2 };

describe("limits", () => {
  const spent = { chains: 3, usage, workedMs: 60_000 };

  it.each([
    [{ maxChains: 3 }, "max-chains"],
    [{ maxChains: 9, maxTokens: 1000 }, "max-tokens"],
    [{ maxChains: 9, maxCostUsd: 2 }, "max-cost"],
    [{ maxChains: 9, maxMinutes: 1 }, "max-minutes"],
    [{ maxChains: 9, maxTokens: 1001, maxCostUsd: 2.1, maxMinutes: 2 }, undefined],
  ])("%o: %s", (limits, reason) => expect(brakeOf(limits, spent)).toBe(reason));
});

it("waits longer with every error, up to ten minutes and a quarter", () => {
  expect([1, 2, 3, 9].map((errors) => backOffMs(errors, () => 0))).toEqual([30_000, 60_000, 120_000, 600_000]);
  expect(backOffMs(9, () => 1)).toBe(750_000);
});

it("sees circles of one or two calls, and no others", () => {
  const calls = (length: number, different: number) =>
    Array.from({ length }, (_, at) => ({ text: "Edit: a.ts", key: `${at % different}` }));
  expect(isCircling(calls(10, 1))).toBe(true);
  expect(isCircling(calls(10, 2))).toBe(true);
  expect(isCircling(calls(10, 3))).toBe(false);
  expect(isCircling(calls(9, 1))).toBe(false);
});

it("tells outcomes of a batch apart", () => {
  const none = { done: 0, failed: 0, blocked: 0, open: 0 };
  expect(batchOutcome({ kind: "completed" }, { ...none, done: 2 })).toBe("completed");
  // Asked to end after everything was finished.
  expect(batchOutcome({ kind: "window-full" }, { ...none, done: 2 })).toBe("completed");
  expect(batchOutcome({ kind: "window-full" }, { ...none, done: 1, open: 1 })).toBe("interrupted");
  expect(batchOutcome({ kind: "crashed" }, { ...none, done: 2 })).toBe("interrupted");
  expect(batchOutcome({ kind: "completed" }, { ...none, done: 1, blocked: 1 })).toBe("blocked");
  expect(batchOutcome({ kind: "completed" }, { ...none, done: 1, failed: 1 })).toBe("failed");
});

it("does not count time in which nothing could happen", () => {
  let now = 0;
  const clock = new AwakeClock(() => now);
  now += 1_000;
  expect(clock.now()).toBe(1_000);
  // Two hours of sleep, then a clock that was set back.
  now += 7_200_000;
  expect(clock.now()).toBe(11_000);
  now -= 5_000;
  expect(clock.now()).toBe(11_000);
});

it("stops at once where no wait helps, and after too many of what may pass", () => {
  const health = new SessionHealth();
  const after = (kind: "failed" | "crashed" | "completed", reason?: "auth" | "overloaded") =>
    health.after({ kind, text: "x", ...(reason && { reason }) }).kind;
  expect(Array.from({ length: 6 }, () => after("failed", "overloaded"))).toEqual([...Array(5).fill("wait"), "stop"]);
  expect(after("completed")).toBe("go-on");
  expect(after("failed", "overloaded")).toBe("wait");
  expect([after("crashed"), after("crashed"), after("completed"), after("crashed")]).toEqual(Array(4).fill("go-on"));
  expect(after("failed", "auth")).toBe("stop");
});

it("stops after three failures in a row of any kind, but not at a limit of turns", () => {
  const after = (...reasons: FailureReason[]) => {
    const health = new SessionHealth();
    return reasons.map((reason) => health.after({ kind: "failed", text: "x", reason }).kind);
  };
  expect(after("other", "prompt-too-long", "aborted")).toEqual(["go-on", "go-on", "stop"]);
  expect(after("other", "overloaded", "other", "overloaded", "other").at(-1)).toBe("stop");
  expect(after(...Array<FailureReason>(9).fill("max-turns"))).toEqual(Array(9).fill("go-on"));
});

it("stops at once, and says what helps, where the client does not trust the folder or is not logged in", () => {
  const text = (reason: FailureReason) => {
    const advice = new SessionHealth().after({ kind: "failed", text: "said", reason });
    return advice.kind === "stop" ? advice.stop.message : advice.kind;
  };
  expect(text("untrusted")).toMatch(/^said \(start the client here once and trust the folder/);
  expect(text("auth")).toMatch(/^said \(log in/);
  expect(text("denied")).toMatch(/^said \(the client's own options after -- give permissions/);
  expect([text("not-found"), text("budget")]).toEqual(["said", "said"]);
  expect(text("prompt-too-long")).toBe("go-on");
});

it("stops gracefully, then now, and never back", () => {
  const stop = new StopSwitch();
  const heard: unknown[] = [];
  stop.onRequest(() => heard.push(stop.how));
  for (const how of ["gracefully", "gracefully", "now", "gracefully"] as const) stop.request(how);
  expect(heard).toEqual(["gracefully", "now"]);
});
