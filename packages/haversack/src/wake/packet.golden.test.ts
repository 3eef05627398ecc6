/** The packets of the usual scenes, word for word (`*.golden.md`), alone and with 10 MB of state behind them. */
import { beforeAll, describe, expect, it } from "vitest";
import { loadCounter, type TokenCounter } from "../tokens/count.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { assemblePacket } from "./packet.ts";
import type { WakeState } from "./state.ts";
import { at, emptyState, handoff, implementing, midReview, skill, task, withBulk } from "./wake-scenes.suite.ts";

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
  "orchestrator-without-a-task": overview,
  "spec-review-as-a-part": () => {
    const { task: whole, plan, ...scene } = implementing();
    return {
      ...scene,
      ...(plan && {
        plan: {
          ...plan,
          text: `${plan.text}\n\n**Files:**\n- Create: \`internal/auth/login.go\`\n- Test: \`internal/auth/login_test.go\`\n`,
        },
      }),
      reason: "asked",
      agent: { name: "rev", role: "spec-reviewer" },
      task: task({ id: "T22", title: "Spec review", parentId: "T2", agent: "rev" }),
      whole: { ...whole!, status: "review" },
      skills: [],
      handoffs: [handoff({ role: "implementer", summary: "Login works, locks after five. 7 tests." })],
    };
  },
  "session-without-a-task": () => emptyState({ agent: { name: "", role: "" }, wip: redWip }),
  "session-with-a-task": () =>
    emptyState({
      agent: { name: "claude-code-1", role: "implementer", isSolo: true, branch: "main" },
      task: task({ agent: "claude-code-1", description: "POST /login takes a name and a password." }),
      tree: [{ id: "T2", title: "Add login endpoint", status: "in_progress", agent: "claude-code-1" }],
      wip: { ...redWip, next_step: "count wrong passwords" },
    }),
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

/** Two stories in progress at once, each held by another agent; the review of one is running. */
function overview(): WakeState {
  const { tree, plan, handoffs, activity } = midReview();
  return emptyState({
    reason: "asked",
    agent: { name: "june", role: "orchestrator", branch: "main" },
    plan: { file: "docs/plans/2026-02-27-authentication.md", text: "Logins for people and machines.", lineCount: 212 },
    skills: [skill({ because: "for the orchestrator" })],
    stories: [
      {
        id: "S1",
        title: "Authentication",
        done: 2,
        total: 6,
        planFile: plan!.file,
        tree: tree.map(({ lastVerdict: _, ...each }) => (each.id === "T22" ? { ...each, agent: "rev" } : each)),
        ready: [
          { id: "T23", title: "Code quality review", status: "todo", parentId: "T2" },
          { id: "T3", title: "Add JWT middleware", status: "todo" },
        ],
      },
      {
        id: "S2",
        title: "Exports",
        done: 0,
        total: 2,
        tree: [
          { id: "T30", title: "Write CSV", status: "review", lastVerdict: "FAIL" },
          { id: "T31", title: "Write XLSX", status: "blocked" },
        ],
        ready: [],
      },
    ],
    moreStories: 2,
    handoffs: [
      ...handoffs.slice(1).map((each) => ({ ...each, taskId: "T2", taskTitle: "Add login endpoint" })),
      handoff({ taskId: "T30", taskTitle: "Write CSV", role: "implementer", summary: "Done.", at: at("09:00") }),
      handoff({ taskId: "T30", taskTitle: "Write CSV", status: "FAIL", summary: "Quotes are not doubled." }),
    ],
    activity: activity.slice(1),
  });
}

const redWip = {
  files_modified: ["notes.txt", "src/login.ts"],
  uncommitted_changes: true,
  uncommitted_files: ["src/login.ts"],
  test_results: { ran: true, passed: 3, failed: 1, failing_test: "login > locks", command: "npm test" },
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
    });
    const next = alone.text.slice(alone.text.indexOf("## Your Next Action"));
    const byChars = assemblePacket(state, {
      budget: 10_000,
      count: (text) => text.length,
      unit: "chars",
    });
    expect(byChars.text.length).toBeLessThanOrEqual(10_000);
    expect(byChars.text).toContain(next);
    expect(byChars.text).toMatch(/\nLeft out: [^\n]+$/);
    for (const counter of [count, estimateTokens]) {
      const byTokens = assemblePacket(state, { budget: 2_500, count: counter, unit: "tokens" });
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
  expect(assemblePacket(state, { budget: 9_500, count: (text) => text.length, unit: "chars" })).toEqual({
    text: "",
    included: [],
    leftOut: [],
    messages: [],
    problems: [],
    isEmpty: true,
    used: 0,
  });
});
