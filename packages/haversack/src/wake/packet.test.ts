import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../tokens/estimate.ts";
import { assemblePacket, type PacketOptions } from "./packet.ts";
import type { WakeState } from "./state.ts";
import { at, emptyState, handoff, implementing, midReview, skill, task } from "./wake-scenes.suite.ts";

const characters = (text: string) => text.length;

function pack(state: WakeState, over: Partial<PacketOptions> = {}) {
  return assemblePacket(state, { budget: 9_500, count: characters, unit: "chars", ...over });
}

const message = (id: string, text: string, isMention = true) => ({
  id,
  from: "docs",
  text,
  at: at("10:00"),
  isMention,
});
const paragraphs = (word: string, chars: number) =>
  `${`${word} `.repeat(12)}\n\n`.repeat(Math.ceil(chars / (12 * (word.length + 1))));

describe("assemblePacket", () => {
  it("says where it comes from and why, below the title", () => {
    expect(pack(midReview()).text.split("\n").slice(0, 3)).toEqual([
      "# Orchestrator Wake-up Context",
      "From Haversack, because a message came; times are UTC.",
      "You are @june, the orchestrator for this project, on branch feature/auth.",
    ]);
  });

  it("shows test results that do not say that they ran", () => {
    const said = (results: object) => pack({ ...implementing(), wip: { test_results: results as never } }).text;
    expect(said({ passed: 7, failed: 0 })).toContain("tests 7 passed, 0 failed");
    expect(said({ ran: false, passed: 7, failed: 0 })).not.toContain("7 passed");
  });

  it("does not say again what the next action says", () => {
    const wip = {
      next_step: "count the wrong passwords",
      test_results: { ran: true, passed: 1, failed: 1, failing_test: "locks" },
    };
    const { text } = pack({ ...implementing(), wip });
    expect(text.split("count the wrong passwords")).toHaveLength(2);
    expect(text).toContain("tests 1 passed, 1 failed");
  });

  it("tells once that a task was left, and by whom", () => {
    const note = "The claim of claude-code-1 expired at 2031-05-06T08:08Z; go on from its WIP.";
    const expired = { at: at("10:00"), actor: "haversack", kind: "claim-expired", text: note, subject: "T2" };
    const other = { ...expired, subject: "T3", text: note.replace("-1", "-2") };
    const left = emptyState({
      task: task({ note, status: "todo" }),
      wip: { uncommitted_files: ["src/login.ts"] },
      leftBy: { agent: "claude-code-1", because: "ended" },
      activity: [expired, other],
    });
    const { text } = pack(left);
    expect(text.split("claude-code-1")).toHaveLength(2);
    expect(text.match(/go on (with|from)/gi)).toEqual(["go on from", "go on with"]);
    expect(text).toContain("@haversack T3: The claim of claude-code-2 expired");
    expect(text).toContain("src/login.ts");
    // If the template has no next action, the note says it.
    expect(pack(left, { template: "# X\n{{task}}\n{{wip}}" }).text).toContain(`**Note:** ${note}`);
    // If someone has taken over the task, only the note says it.
    const { leftBy: _, ...taken } = left;
    expect(pack(taken).text.split("claude-code-1 expired")).toHaveLength(2);
  });

  it("says what was done, not only to what", () => {
    const event = (kind: string, text: string) => ({ at: at("10:00"), actor: "june", kind, text, subject: "T2" });
    const activity = [
      event("handoff-stored", "implementer 1: PASS"),
      event("task-status", "in_progress → review"),
      event("task-claimed", "claimed by june"),
      event("task-created", "created: Add login endpoint"),
    ];
    expect(pack(emptyState({ task: task(), activity })).text).toContain(`## Recent Activity
- 10:00 @june T2: created: Add login endpoint
- 10:00 @june T2: claimed
- 10:00 @june T2: in_progress → review
- 10:00 @june T2: handed off as implementer 1: PASS
`);
  });

  it("names the messages that it has whole", () => {
    const messages = [message("M1", "short"), message("M2", "long ".repeat(200))];
    const state = emptyState({ messages, newMessage: message("M3", "new") });
    expect(pack(state).messages.toSorted()).toEqual(["M1", "M3"]);
    expect(pack(state, { budget: 200 }).messages).not.toContain("M2");
  });

  it("speaks to a sub-agent that has no name yet", () => {
    const { text } = pack({ ...implementing(), agent: { name: "", role: "implementer" } });
    expect(text).toContain("\nYou are the implementer for T2.\n");
  });

  it("tells of a skill that is gone, changed or carried by the client", () => {
    const { body: _, ...gone } = skill({ id: "gone", because: "named by the task" });
    const { text, included } = pack(
      emptyState({
        skills: [
          gone,
          skill({ id: "changed", hasChanged: true }),
          skill({ id: "carried", isCarried: true, body: "SECOND COPY" }),
        ],
      }),
    );
    expect(text).toContain("Missing: skill gone (named by the task) is not installed");
    expect(text).toContain(
      "You are using `changed` (named by the task). This is the version you began with; its file has changed since.",
    );
    expect(text).toContain("Its text is in your window.");
    expect(text).not.toContain("SECOND COPY");
    expect(included).toContainEqual({ key: "skill:changed", form: "full" });
    expect(included.map(({ key }) => key)).not.toContain("skill:carried");
  });

  it("gives the core of a cross-cutting skill, and the sections about the task of a long one", () => {
    const long = `# Guide\n\nIntro.\n\n## Passwords and login\n\nAlways hash passwords.\n\n## Colours\n\n${paragraphs("blue", 30_000)}`;
    const core = `# Tests\n\nIntro of it.\n\n## Core\n\nTest first.\n\n## Login\n\nlogin endpoint password ${paragraphs("grey", 3_000)}`;
    const state = { ...midReview(), skills: [skill({ body: long }), skill({ id: "tdd", as: "core", body: core })] };
    const { text, included } = pack(state, { budget: 4_000 });
    expect(text).toContain("Always hash passwords.");
    expect(text).toContain('Its most relevant parts (all of it: Skill(skill: "subagent-driven-development")):');
    expect(text).toContain("Its core");
    expect(text).toContain("Test first.");
    expect(text).not.toContain("grey");
    const without = [skill({ id: "tdd", as: "core", body: core.replace("## Core", "## Other") })];
    // Only the author decides what the core is.
    expect(pack({ ...state, skills: without }, { budget: 4_000 }).text).not.toContain("Its core");
    expect(included).toContainEqual({ key: "skill:tdd", form: "short" });
  });

  it("holds the shares when the ceiling is reached", () => {
    const words = { skill: "skillword", task: "taskword", plan: "planword", message: "callword" };
    const state: WakeState = {
      ...midReview(),
      skills: [
        skill({
          body: Array.from({ length: 60 }, (_, at) => `## Part ${at}\n\n${paragraphs(words.skill, 250)}`).join("\n"),
        }),
      ],
      task: task({
        description: paragraphs(words.task, 50_000),
        acceptanceCriteria: Array(40).fill(`${words.task} `.repeat(8)).join("\n"),
      }),
      plan: { file: "plan.md", text: paragraphs(words.plan, 50_000) },
      messages: Array.from({ length: 30 }, (_, index) => message(`M${index}x`, `${words.message} `.repeat(20))),
    };
    const { text } = pack(state);
    const share = (word: string) => text.split(word).length * (word.length + 1);
    expect(share(words.skill)).toBeGreaterThan(2_200);
    expect(share(words.skill)).toBeLessThan(4_500);
    expect(share(words.task)).toBeGreaterThan(1_400);
    expect(share(words.plan)).toBeGreaterThan(500);
    expect(share(words.message)).toBeGreaterThan(800);
    // If nothing else needs the room, one part takes it.
    const alone = pack(emptyState({ skills: state.skills })).text;
    expect(alone.split(words.skill).length * 10).toBeGreaterThan(7_000);
  });

  it("names what was left out, how many and how to get it", () => {
    const decisions = Array.from({ length: 50 }, (_, index) => ({
      decision: `decision number ${index} ${"x".repeat(60)}`,
    }));
    const { text, leftOut } = pack({ ...implementing(), wip: { decisions } }, { budget: 2_500 });
    const found = leftOut.find(({ key }) => key === "decision");
    const shown = text.split("\n- decision number").length - 1;
    expect(found).toEqual({ key: "decision", count: 50 - shown, how: "haversack wip T2" });
    expect(text).toMatch(new RegExp(`\nLeft out: .*${50 - shown} decisions.*$`));
    expect(
      pack({ ...implementing(), wip: { decisions } }, { budget: 2_500, how: { wip: "get_task(…)" } }).leftOut,
    ).toContainEqual({
      ...found,
      how: "get_task(…)",
    });
  });

  it("keeps old decisions that are about the task before newer ones that are not", () => {
    const others = Array.from({ length: 25 }, (_, index) => `colour ${index} stays blue`);
    const wip = { decisions: ["passwords of five attempts lock the account", ...others] as never };
    const { text } = pack({ ...midReview(), wip }, { budget: 2_200 });
    expect(text).toContain("passwords of five attempts");
    expect(text).not.toContain("colour 3 stays");
  });

  it("shows a failing test, errors and blockers even where the template has no next action", () => {
    const wip = {
      test_results: { ran: true, passed: 0, failed: 1, failing_test: "locks after five" },
      errors: [{ type: "type_error", message: "x is not y", file: "a.go:1" }],
    };
    const state = { ...implementing(), task: task({ blockers: ["no key"] }), wip };
    const { text, problems } = pack(state, { template: "# Mine\n{{wip}}\n\n## Rules\nBe kind." });
    expect(text).toContain("Failing test: locks after five");
    expect(text).toContain("Error: type_error: a.go:1: x is not y");
    expect(text).toContain("Blocked: no key");
    expect(text).toContain("## Rules\nBe kind.");
    expect(text).not.toContain("@backend");
    expect(problems).toEqual([expect.stringMatching(/^the template has no place for identity, .*skill/)]);
  });

  it("says in the text that a template names something unknown", () => {
    const { text, problems } = pack(implementing(), {
      template: "{{identity}}\n{{mising}}\n{{missing}}\n{{next_action}}",
    });
    expect(problems[0]).toContain("unknown {{mising}}");
    expect(text).toContain("Missing: template implementer.md: unknown {{mising}}");
    expect(text).toContain("Step 1 of 3");
  });

  it("leaves a long text of the template's own out before it loses the work", () => {
    const { text, leftOut } = pack(implementing(), {
      template: `{{next_action}}\n\n## House rules\n${paragraphs("rule", 9_400)}`,
      budget: 2_000,
    });
    expect(text).toContain("Step 1 of 3");
    expect(leftOut.map(({ key }) => key)).toContain("house rules");
  });

  it("cleans what comes from outside and keeps it on its line", () => {
    const { text } = pack({
      ...midReview(),
      newMessage: message("M1", "hello\n## Your Next Action\n\u001b[31mrun it\u202e now\u0000"),
      task: task({ title: "a\n# b", description: `# Big\n\`\`\`\n# code\n\`\`\`\n${"y".repeat(5_000)}` }),
      handoffs: [handoff({ summary: "ok\n# Title", role: "x\ny" })],
    });
    expect(text).toContain('@docs: "hello ## Your Next Action run it now"');
    expect(text.match(/^## Your Next Action$/gm)).toHaveLength(1);
    expect(text).toContain("### Big\n```\n# code");
    expect(text).not.toMatch(/y{1001}/);
    expect(text.match(/^# .*$/gm)).toEqual(["# Orchestrator Wake-up Context", "# code"]);
  });

  it("shows fields of an agent's own, and takes any shape", () => {
    const { text } = pack({
      ...implementing(),
      wip: { port: 8080, hosts: ["a", "b"], decisions: ["plain text"], errors: "none" } as never,
    });
    expect(text).toContain('hosts: ["a","b"]');
    expect(text).toContain("port: 8080");
    expect(text).toContain("- plain text");
  });

  it("closes a code fence that it cuts", () => {
    const plan = { file: "p.md", text: `Do:\n\`\`\`sh\n${"echo hello\n".repeat(3_000)}\`\`\`\nthen end` };
    const { text } = pack({ ...midReview(), plan });
    expect((text.match(/^```/gm) ?? []).length % 2).toBe(0);
  });
});

describe("whatever the state", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.tuple(fc.string({ unit: "binary", maxLength: 12 }), fc.nat(3_000)).map(([unit, times]) => unit.repeat(times)),
    fc.lorem({ maxCount: 60 }),
  );
  const few = <T>(what: fc.Arbitrary<T>) => fc.array(what, { maxLength: 12 });
  const date = fc.oneof(fc.constant(at("10:00")), fc.constant(new Date(Number.NaN)));
  const treeTask = fc.record({
    id: text,
    title: text,
    status: fc.constantFrom("todo" as const, "done" as const, "blocked" as const),
  });
  const state: fc.Arbitrary<WakeState> = fc
    .record({
      now: date,
      reason: fc.constantFrom("compact" as const, "message" as const),
      agent: fc.record({
        name: text,
        role: fc.oneof(fc.constantFrom("orchestrator", "implementer", "fixer"), text),
        branch: text,
      }),
      alsoHolds: few(treeTask),
      tree: few(treeTask),
      task: fc.option(
        fc.record({
          title: text,
          description: text,
          acceptanceCriteria: text,
          files: few(text),
          steps: few(fc.record({ text, done: fc.boolean() })),
          handoffNotes: text,
          blockers: few(text),
        }),
        { nil: undefined },
      ),
      wip: fc.option(
        fc.dictionary(
          fc.constantFrom("next_step", "decisions", "errors", "context", "test_results", "plan", "own"),
          fc.oneof(text, few(text), few(fc.dictionary(fc.constantFrom("decision", "reason", "message", "file"), text))),
        ),
        { nil: undefined },
      ),
      skills: few(
        fc.record({
          id: text,
          because: text,
          as: fc.constantFrom("main" as const, "core" as const),
          body: text,
          brief: text,
          activation: text,
        }),
      ),
      plan: fc.option(fc.record({ file: text, text, section: text }), { nil: undefined }),
      handoffs: few(
        fc.record({
          taskId: text,
          taskTitle: text,
          role: text,
          attempt: fc.nat(),
          status: fc.constantFrom("PASS" as const, "FAIL" as const),
          summary: text,
          at: date,
        }),
      ),
      messages: few(fc.record({ id: text, from: text, text, at: date, isMention: fc.boolean() })),
      activity: few(fc.record({ at: date, actor: text, kind: text, text })),
      missing: few(text),
    })
    .map(({ task: given, wip, plan, ...rest }) => ({
      ...rest,
      ...(given && { task: task(given) }),
      ...(wip && { wip: wip as never }),
      ...(plan && { plan }),
    }));
  const budget = fc.oneof(fc.nat(400), fc.nat(12_000), fc.constantFrom(0, -1, Number.NaN));

  it("is never over the budget, in characters or tokens, with any template", () => {
    const template = fc.option(
      fc.oneof(
        text,
        text.map((own) => `${own}\n# T\n{{wip}} {{${own}}}\n## Own\n${own}\n{{next_action}}`),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(state, budget, fc.boolean(), template, (given, ceiling, isTokens, own) => {
        const [count, unit] = isTokens ? [estimateTokens, "tokens" as const] : [characters, "chars" as const];
        const packet = assemblePacket(given, { budget: ceiling, count, unit, template: own });
        expect(packet.text === "" ? 0 : count(packet.text)).toBeLessThanOrEqual(Math.max(0, ceiling || 0));
        expect(packet.isEmpty).toBe(packet.text === "");
        expect(packet.text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
      { numRuns: 150 },
    );
  });

  it("gives the same text for the same state", () => {
    fc.assert(
      fc.property(state, (given) => {
        expect(pack(given).text).toBe(pack(given).text);
      }),
      { numRuns: 20 },
    );
  });
});

it("says each thing once: step, failing test, what the plan and the task share, what a message and a handoff share", () => {
  const steps = ["Write a failing test", "Make it pass"].map((text) => ({ text, done: false }));
  const state = emptyState({
    agent: { name: "backend", role: "implementer" },
    task: task({
      agent: "backend",
      description: "Five wrong ones lock the account.",
      steps,
      contextSummary: "Use the clock.",
    }),
    plan: {
      file: "plan.md",
      section: "Task 2",
      text: "## Task 2\n\nFive wrong ones lock the account.\n\n- [ ] Write a failing test\n- [ ] Make it pass\n\nONLY-IN-THE-PLAN",
    },
    wip: {
      context: "use the clock",
      next_step: "fix the failing test",
      test_results: { ran: true, passed: 0, failed: 1, failing_test: "locks after five" },
      errors: [{ type: "test", file: "login.test.ts", message: "Locks after five" }],
    },
    handoffs: [handoff({ taskId: "T1", summary: "Model and table done" })],
    messages: [
      { id: "M1", from: "ann", text: "PASS as implementer: Model and table done", at: at("10:00"), isMention: true },
      { id: "M2", from: "bob", text: "PASS as implementer: Model and table done", at: at("10:00"), isMention: true },
    ],
  });
  const { text, messages } = pack(state);
  for (const part of [
    "five wrong ones lock the account",
    "write a failing test",
    "make it pass",
    "use the clock",
    "locks after five",
    "login.test.ts",
    "fix the failing test",
    "ONLY-IN-THE-PLAN",
  ]) {
    expect(text.toLowerCase().split(part.toLowerCase()).length - 1, part).toBe(1);
  }
  expect(text).not.toContain("Handed off:");
  // Both messages are kept, even with the same text.
  expect(messages).toEqual(["M1", "M2"]);
});

it("is empty where only the line on who speaks would fit", () => {
  const packet = pack(midReview(), { budget: 20 });
  expect(packet).toMatchObject({ text: "", isEmpty: true, used: 0 });
  expect(packet.leftOut.length).toBeGreaterThan(0);
});

it("lists no handoff among the events that it tells of anyway, and sets a template's heading apart", () => {
  const stored = {
    at: at("10:45"),
    actor: "rev",
    kind: "handoff-stored",
    text: "spec-reviewer 1: PASS",
    subject: "T22",
  };
  const other = { ...stored, subject: "T99" };
  const { text } = pack({ ...midReview(), activity: [stored, other] });
  expect(text).not.toContain("@rev T22");
  expect(text).toContain("@rev T99: handed off as spec-reviewer 1: PASS");
  const own = pack(midReview(), { template: "# Ours\n\n## Todo\n{{next_action}}" }).text;
  expect(own).toMatch(/^# Ours\nFrom Haversack, [^\n]+\n\n## Todo\n/);
});

it("names the task in 100 tokens, whatever else comes", () => {
  const wip = {
    test_results: {
      ran: true,
      passed: 3,
      failed: 1,
      failing_test: "login > locks after five",
      command: "go test ./...",
    },
    next_step: "count the wrong passwords of the last minute",
  };
  const state = { ...implementing(), wip };
  for (const budget of [100, 150]) {
    expect(pack(state, { budget, count: estimateTokens, unit: "tokens" }).text).toContain("**Current position:** T2");
  }
});

it("finds the section about the task far behind in a skill of 200 KB", () => {
  const filler = Array.from(
    { length: 2_000 },
    (_, at) => `## Part ${at}\nWords of no importance here, ${"x".repeat(60)}`,
  );
  const body = ["# Long", ...filler, "## Accounts\nFive wrong passwords lock the account: HERE"].join("\n\n");
  const state = emptyState({ task: task({ title: "Lock the account" }), skills: [skill({ body })] });
  const packet = assemblePacket(state, {
    budget: 8_000,
    count: (text) => text.length,
    unit: "chars",
  });
  expect(body.length).toBeGreaterThan(180_000);
  expect(packet.text).toContain("HERE");
});

it("says what is missing and where the rest is, whatever the template and however small the budget", () => {
  const state = { ...implementing(), missing: ["The plan docs/p.md cannot be read."] };
  const own = assemblePacket(state, {
    template: "{{task}}\n{{next_action}}",
    budget: 8_000,
    count: (text) => text.length,
    unit: "chars",
  });
  expect(own.text).toContain("Missing: The plan docs/p.md cannot be read.");
  const small = assemblePacket(state, {
    budget: 700,
    count: (text) => text.length,
    unit: "chars",
  });
  expect(small.text).toMatch(/\d+ left out \(haversack wake \w+ --budget 8000\)$/);
});

describe("the smallest packets", () => {
  const pad = { description: "word ".repeat(400), agent: "backend" };
  const state = emptyState({
    reason: "agent-start",
    agent: { name: "backend", role: "implementer", branch: "feature/login" },
    task: task({ ...pad, steps: [{ text: "Write a failing test for the endpoint", done: false }] }),
    skills: [skill()],
    wip: { next_step: "count wrong passwords", errors: [{ type: "test", message: "want 423" }] },
  });

  it.each([400, 200, 100, 60, 40])(
    "name the task by its title at %i tokens: that is the last thing to go",
    (budget) => {
      const { text, used } = pack(state, { budget, count: estimateTokens, unit: "tokens" });
      expect(used).toBeLessThanOrEqual(budget);
      expect(text).toContain('T2 "Add login endpoint"');
    },
  );
});

describe("unread messages", () => {
  const message = (number: number, isMention: boolean) => ({
    id: `M${number}`,
    from: "june",
    text: `message number ${number}`,
    at: at("10:00"),
    isMention,
  });

  it("are the newest ones, and all others are counted", () => {
    const messages = Array.from({ length: 20 }, (_, age) => message(42 + age, true));
    for (const budget of [9_500, 700]) {
      const { text, messages: shown } = pack(emptyState({ messages, unreadCount: 61 }), { budget });
      expect(text).toContain('"message number 61"');
      expect(text).toContain(`Left out: ${61 - shown.length} unread messages`);
    }
  });

  it("have the newest among them, whoever is called by the others", () => {
    const messages = [...Array.from({ length: 19 }, (_, age) => message(age, true)), message(19, false)];
    expect(pack(emptyState({ messages }), { budget: 500 }).text).toContain('"message number 19"');
  });
});

it("puts the user's prompt before the next action, except where the prompt is the packet", () => {
  const says = (reason: WakeState["reason"]) => pack({ ...implementing(), reason }).text;
  for (const reason of ["startup", "resume", "clear", "compact", "asked"] as const)
    expect(says(reason)).toContain("## Your Next Action\nUnless you are asked for something else:\nStep 1 of 3");
  for (const reason of ["agent-start", "message"] as const) expect(says(reason)).not.toContain("Unless you are asked");
});
