/** States for the packet tests: an orchestrator in the middle of a review, and scenes derived from it. */
import type { WakeHandoff, WakeSkill, WakeState, WakeTask } from "./state.ts";

export const at = (time: string): Date => new Date(`2026-03-04T${time}:00Z`);

export function emptyState(over: Partial<WakeState> = {}): WakeState {
  return {
    now: at("10:46"),
    reason: "compact",
    agent: { name: "june", role: "orchestrator" },
    alsoHolds: [],
    tree: [],
    skills: [],
    handoffs: [],
    messages: [],
    activity: [],
    missing: [],
    ...over,
  };
}

export function task(over: Partial<WakeTask> = {}): WakeTask {
  return {
    id: "T2",
    title: "Add login endpoint",
    status: "in_progress",
    type: "feature",
    files: [],
    steps: [],
    blockers: [],
    waitsFor: [],
    ...over,
  };
}

export function handoff(over: Partial<WakeHandoff> = {}): WakeHandoff {
  return {
    taskId: "T2",
    taskTitle: "Add login endpoint",
    role: "spec-reviewer",
    attempt: 1,
    status: "PASS",
    summary: "All requirements met.",
    at: at("10:45"),
    ...over,
  };
}

export function skill(over: Partial<WakeSkill> = {}): WakeSkill {
  return {
    id: "subagent-driven-development",
    because: "named by the task",
    as: "main",
    body: `# Sub-agents

One fresh sub-agent per task, then two reviews of its work, first against the specification, then for quality.

## For each task

Send an implementer with the whole text of the task. When it is done, send a spec reviewer. When that passes, send a quality reviewer. On FAIL send a fixer with what was found and nothing else, then the same reviewer again.

## Never

Never skip a review. Never start the quality review before the spec review has passed. Never mend it yourself: your window is for the whole.
`,
    brief: "One sub-agent per task, two reviews each.",
    activation: 'Skill(skill: "subagent-driven-development")',
    ...over,
  };
}

/** Task 2 is built, its spec review has just passed. */
export function midReview(): WakeState {
  return emptyState({
    reason: "message",
    agent: { name: "june", role: "orchestrator", client: "claude-code", branch: "feature/auth" },
    task: task({
      agent: "backend",
      description: "POST /login takes a name and a password and answers with a session.",
      acceptanceCriteria: "- Wrong passwords get 401.\n- Five wrong ones lock the account for a minute.",
    }),
    tree: [
      { id: "T1", title: "Add user model", status: "done", agent: "backend" },
      { id: "T2", title: "Add login endpoint", status: "in_progress", agent: "backend" },
      { id: "T21", title: "Implementation", status: "done", parentId: "T2" },
      { id: "T22", title: "Spec review", status: "in_progress", parentId: "T2", lastVerdict: "PASS" },
      { id: "T23", title: "Code quality review", status: "todo", parentId: "T2" },
      { id: "T3", title: "Add JWT middleware", status: "todo" },
    ],
    story: { id: "S1", title: "Authentication", status: "in_progress", done: 2, total: 6 },
    plan: {
      file: "docs/plans/2026-02-27-authentication.md",
      section: "Task 2: Add login endpoint",
      text: "### Task 2: Add login endpoint\n\nCreate internal/auth/login.go with its test. Sessions last a day.",
      lineCount: 212,
    },
    skills: [skill()],
    handoffs: [
      handoff({ taskId: "T22", taskTitle: "Spec review", summary: "All requirements met, no extras added." }),
      handoff({
        taskId: "T1",
        taskTitle: "Add user model",
        role: "implementer",
        summary: "Model and table, 9 tests.",
        at: at("09:30"),
      }),
    ],
    newMessage: {
      id: "M1",
      from: "spec-reviewer",
      text: "Spec review complete. All requirements met, no extras added.",
      at: at("10:45"),
      isMention: true,
    },
    activity: [
      { at: at("10:45"), actor: "spec-reviewer", kind: "handoff", text: "PASS", subject: "T22" },
      { at: at("10:33"), actor: "june", kind: "dispatch", text: "dispatched spec-reviewer", subject: "T2" },
      {
        at: at("10:32"),
        actor: "backend",
        kind: "status",
        text: "implementation complete, ready for review",
        subject: "T2",
      },
    ],
  });
}

/** The sub-agent that builds the task. */
export function implementing(): WakeState {
  const scene = midReview();
  return emptyState({
    ...(scene.plan && { plan: scene.plan }),
    reason: "agent-start",
    agent: { name: "backend", role: "implementer", branch: "feature/auth" },
    task: task({
      ...scene.task,
      files: ["internal/auth/login.go", "internal/auth/login_test.go"],
      steps: [
        { text: "Write a failing test for the endpoint", done: false },
        { text: "Make it pass", done: false },
        { text: "Commit", done: false },
      ],
      contextSummary: "The user model is done: import it from internal/auth/user.go.",
    }),
    skills: [
      skill({
        id: "test-driven-development",
        because: "for implementation",
        body: "# TDD\n\nSee the test fail before you write the code.",
        activation: 'Skill(skill: "test-driven-development")',
      }),
    ],
    handoffs: scene.handoffs.slice(1),
  });
}

/** Adds 10 MB of state to a scene; none of it may push out what matters. */
export function withBulk(state: WakeState): WakeState {
  const long = "Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy eirmod tempor. ".repeat(12);
  const [first] = state.skills;
  return {
    ...state,
    ...(first && {
      skills: [{ ...first, body: `${first.body}\n${`## More\n\n${long}\n\n`.repeat(180)}` }, ...state.skills.slice(1)],
    }),
    ...(state.plan && { plan: { ...state.plan, text: `${state.plan.text}\n${long.repeat(900)}` } }),
    messages: [
      ...state.messages,
      ...Array.from({ length: 8_000 }, (_, index) => ({
        id: `B${index}`,
        from: "ops",
        text: `${index} ${long}`,
        at: at("08:00"),
        isMention: false,
      })),
    ],
    activity: [
      ...state.activity,
      ...Array.from({ length: 500 }, () => ({ at: at("07:00"), actor: "ops", kind: "note", text: long })),
    ],
  };
}
