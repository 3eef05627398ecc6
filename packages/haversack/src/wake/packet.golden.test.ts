/** The packets of the usual scenes, word by word (`*.golden.md`), alone and with 10 MB of state behind them. */
import { beforeAll, describe, expect, it } from "vitest";
import { loadCounter, type TokenCounter } from "../tokens/count.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { assemblePacket } from "./packet.ts";
import type { WakeState } from "./state.ts";
import { at, emptyState, handoff, implementing, midReview, task, withBulk } from "./wake-scenes.suite.ts";
import { DEVELOPMENT } from "./workflows/development.ts";

const scenes: Record<string, () => WakeState> = {
  "orchestrator-mid-review": midReview,
  implementer: implementing,
  "spec-reviewer": () => {
    const scene = implementing();
    return {
      ...scene,
      agent: { name: "rev", role: "spec-reviewer", branch: "feature/auth" },
      task: task({
        ...scene.task,
        steps: scene.task!.steps.map(({ text }) => ({ text, done: true })),
        status: "review",
      }),
      handoffs: [
        handoff({ role: "implementer", summary: "Login works, locks after five. 7 tests.", at: at("10:30") }),
        ...scene.handoffs,
      ],
    };
  },
  "woken-by-mention": () =>
    emptyState({
      reason: "message",
      agent: { name: "docs", role: "writer" },
      newMessage: {
        id: "M9",
        from: "june",
        text: "@docs the header is X-Family, please add it",
        at: at("10:45"),
        isMention: true,
      },
      suggested: { id: "T8", title: "Describe the flow for other teams", status: "todo" },
    }),
};

let count: TokenCounter;
beforeAll(async () => {
  count = await loadCounter();
});

describe.each(Object.entries(scenes))("%s", (name, scene) => {
  it("reads as it should", async () => {
    const packet = assemblePacket(scene(), {
      budget: 9_500,
      count: (text) => text.length,
      unit: "chars",
      workflow: DEVELOPMENT,
    });
    await expect(packet.text).toMatchFileSnapshot(`${name}.golden.md`);
    expect(packet).toMatchObject({ problems: [], leftOut: [], isEmpty: false });
  });

  it("fits with 10 MB of state behind it, and still says what is next", () => {
    const state = withBulk(scene());
    expect(JSON.stringify(state).length).toBeGreaterThan(9_000_000);
    const alone = assemblePacket(scene(), {
      budget: 9_500,
      count: (text) => text.length,
      unit: "chars",
      workflow: DEVELOPMENT,
    });
    const next = alone.text.slice(alone.text.indexOf("## Your Next Action"));
    const byChars = assemblePacket(state, {
      budget: 10_000,
      count: (text) => text.length,
      unit: "chars",
      workflow: DEVELOPMENT,
    });
    expect(byChars.text.length).toBeLessThanOrEqual(10_000);
    expect(byChars.text).toContain(next);
    expect(byChars.text).toMatch(/\nLeft out: [^\n]+$/);
    for (const counter of [count, estimateTokens]) {
      const byTokens = assemblePacket(state, { budget: 2_500, count: counter, unit: "tokens", workflow: DEVELOPMENT });
      expect(counter(byTokens.text)).toBeLessThanOrEqual(2_500);
      expect(byTokens.text).toContain(next);
    }
  });
});

it("nothing to do: no text, whatever happened around it", () => {
  const state = emptyState({
    activity: midReview().activity,
    suggested: { id: "T8", title: "Describe the flow", status: "todo" },
    wip: { updated_at: "2026-03-04T10:00:00Z", uncommitted_changes: false, decisions: [] },
  });
  expect(
    assemblePacket(state, { budget: 9_500, count: (text) => text.length, unit: "chars", workflow: DEVELOPMENT }),
  ).toEqual({
    text: "",
    included: [],
    leftOut: [],
    messages: [],
    problems: [],
    isEmpty: true,
    used: 0,
  });
});
