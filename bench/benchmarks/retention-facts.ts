/**
 * One session's state with 40 planted facts, written before the packet was tuned. The scene: @backend was compacted in the
 * middle of a task that came back from review, with one failing test.
 *
 * A fact matters for the next action if the agent, without it, would do the wrong thing next, repeat something, or break a decision
 * or requirement of this task. Background, history and other people's affairs do not matter, however interesting. The decisions
 * that matter are mixed with others that do not, because no packet can know which ones they are.
 */
import type { WakeState } from "../../packages/haversack/src/wake/state.ts";

export interface Fact {
  /** Its place in the state. */
  kind:
    | "identity"
    | "position"
    | "tests"
    | "decision"
    | "file"
    | "constraint"
    | "message"
    | "skill"
    | "plan"
    | "history";
  /** The fact counts as kept if all of these are in the text. */
  needles: readonly string[];
  matters: boolean;
  why: string;
}

const yes = (kind: Fact["kind"], why: string, ...needles: string[]): Fact => ({ kind, needles, matters: true, why });
const no = (kind: Fact["kind"], why: string, ...needles: string[]): Fact => ({ kind, needles, matters: false, why });

export const FACTS: readonly Fact[] = [
  // Who and where.
  yes("identity", "it must know its name and role to answer and to hand off", "@backend", "implementer"),
  yes("identity", "the commit goes to this branch", "feature/refresh-rotation"),
  yes("position", "what it works on, with the id that every call needs", "T4829", "Rotate refresh tokens"),
  yes("position", "the step it is at: steps 1 and 2 must not be done again", "Reject a token that was used before"),
  no("position", "the number of tasks around it does not change what it does", "3 of 9"),
  no("position", "another's task", "Login form keeps the return address"),
  no("position", "a later task", "Show active sessions in the account page"),
  no("position", "the story's title explains nothing that the task does not", "Sessions survive a restart"),
  // Failing tests.
  yes("tests", "this test is to be made green", "revokes the family when a used token comes back"),
  yes("tests", "the message names the cause", "expected 401, received 200"),
  yes("tests", "where to look first", "src/auth/rotate.ts:58"),
  yes("tests", "how to run just these tests", "npx vitest run src/auth"),
  no("tests", "how many are green does not help to fix the red one", "41 passed"),
  yes("tests", "what it was about to do", "read the family row inside the transaction"),
  // Decided in this task.
  no("decision", "about the project's set-up, long done", "Vitest stays"),
  yes("decision", "code written without it would store secrets", "only the SHA-256 of a token"),
  no("decision", "for the documentation, a later task", "docs/auth.md"),
  yes("decision", "this is the behaviour that the red test asks for", "a used token revokes its whole family"),
  yes("decision", "the fix must not read the clock itself", "clock comes in as an argument"),
  no("decision", "a name that stands in the code already", "parent_hash"),
  yes("decision", "a fix without it would log out users with two tabs", "10 seconds of grace"),
  no("decision", "wording of a log line", "log level info"),
  // Files.
  yes("file", "it holds half of the change, not committed", "ommit", "src/auth/rotate.ts"),
  yes("file", "the red test is in it, not committed", "ommit", "test/auth/rotate.test.ts"),
  no("file", "committed and finished", "src/auth/family.ts"),
  no("file", "the hash of a commit that is over", "4f2a9c1"),
  // Requirements.
  yes("constraint", "the answer's code is checked by the reviewer", "token_reused"),
  yes("constraint", "forbids the obvious short cut", "no new dependency"),
  yes("constraint", "the review failed on it", "expiry of the family is never checked"),
  yes("constraint", "the migration is part of the uncommitted change", "migration can be undone"),
  yes("plan", "the plan's part that the step implements", "UUIDv7"),
  no("plan", "the next part of the plan", "Cookie names change in section 7"),
  // Messages of others.
  yes("message", "it forbids a file that the fix would touch", "src/session/legacy.ts"),
  yes("message", "a question to this agent that others wait on", "which header carries the family id"),
  no("message", "to everybody, about something else", "stand-up moves to 10:30"),
  no("message", "to everybody, about something else", "staging is rebuilt tonight"),
  no("history", "a sibling's result, over", "Login returns a session"),
  no("history", "what happened yesterday", "renamed the users table"),
  // How to work.
  yes("skill", "which way of working was in use", "test-driven-development"),
  yes("skill", "the skill's part on red tests: the next action is one", "fails for the reason you expect"),
];

const at = (time: string): Date => new Date(`2026-03-04T${time}:00Z`);

const SKILL = `# Test-Driven Development

Write the test first, see it fail, write the least code that makes it pass, then clean up. A test that never failed proves nothing.

## When to use it

For every feature, every bug and every change of behaviour. Ask before you leave it out: throw-away prototypes, generated code and configuration are the usual exceptions.

## Red: a failing test

Write one test for one behaviour, with a name that says what the behaviour is. Run it. Check that it fails for the reason you expect and not because of a typing error. A test that passes at once tests what exists already: change the test.

## Green: the least code

Write the simplest code that makes the failing test pass. Nothing else: no options nobody asked for, no cleaning up on the way. Run the test, then all tests. When another one fails, mend it now.

## Refactor

Only with all tests green. Remove repetition, find better names, move code where it belongs. Behaviour stays as it is; the tests stay green after each small step.

## What a good test looks like

It checks one thing; an "and" in its name is a sign of two. It uses real code and replaces only what is slow or outside, such as the network. It reads as an example of how the code is called. It does not look into private parts, because those change.

## Why the order matters

A test written afterwards passes at once, and a test that passes at once cannot show that it checks anything. Tests written first ask what the code should do; those written later confirm what it does, with its mistakes. Trying things by hand leaves no record, and nobody repeats it after the next change.

## Usual excuses

"It is too small to test": small things break too, and the test takes a minute. "I will write the tests later": later they are written to fit. "Deleting the code is a waste": keeping code that you cannot trust is the waste. "The tests slow me down": searching for the fault slows you down more. "It is only a prototype": then say so and throw it away.

## When you are stuck

Do not know how to test it: write the call that you wish you had. The test is too long: the interface is too complicated. Everything must be replaced by stand-ins: the parts hang together too closely. The set-up is huge: take it out into a function, and if it is still huge, make the design simpler.

## Faults

Found a fault? Write a test that shows it, then follow the cycle. The test proves the repair and keeps the fault from coming back. Never repair a fault without a test.

## Before you say that it is done

Every new function has a test. You saw each test fail before the code was there. All tests are green and print nothing unexpected. The edge cases and the errors are covered.
`;

const PLAN = `### Task 4: Rotate refresh tokens

Each refresh gives a new token and makes the old one useless. All tokens that come from one login are a family; its id is a UUIDv7, so that families sort by age in the index.

Files: create src/auth/rotate.ts and test/auth/rotate.test.ts; change src/auth/refresh.ts.

1. Write the table of families and its migration.
2. Give a new token on each refresh.
3. Reject a token that was used before.
4. End a family when its time is over.

The endpoint keeps its path. Clients that send no token get what they got before. Errors have the shape of src/http/problem.ts.

Cookie names change in section 7, not here.
`;

const CHATTER = [
  "stand-up moves to 10:30 from tomorrow on, same room",
  "the design of the account page is in the usual folder, comments until Thursday please",
  "staging is rebuilt tonight, expect an hour without it",
  "thanks to everybody who helped with the outage yesterday, the report is in the wiki",
  "I took the two tickets on the e-mail templates, nobody needs to look at them",
  "the linter has a new version, the update comes next week",
];

export const STATE: WakeState = {
  now: at("10:46"),
  reason: "compact",
  agent: {
    name: "backend",
    role: "implementer",
    client: "claude-code",
    sessionId: "0f6c1c9e",
    branch: "feature/refresh-rotation",
    worktree: ".worktrees/refresh-rotation",
  },
  task: {
    id: "T4829",
    title: "Rotate refresh tokens",
    status: "in_progress",
    type: "feature",
    agent: "backend",
    description:
      "A stolen refresh token is good for a month today. Make each one good for one use: every refresh returns a new token, and a token that comes a second time is a sign of theft. The table of sessions stays as it is; families get a table of their own. The old endpoint for mobile clients is not part of this.",
    acceptanceCriteria:
      "- A used token is answered with 401 and the code token_reused.\n- The migration can be undone without loss.\n- There is no new dependency.\n- Two refreshes at the same time do not log a user out.\n- The endpoint stays below 40 ms at the 95th percentile.",
    files: ["src/auth/rotate.ts", "test/auth/rotate.test.ts", "src/auth/refresh.ts"],
    steps: [
      { text: "Table of families with its migration", done: true },
      { text: "New token on each refresh", done: true },
      { text: "Reject a token that was used before", done: false },
      { text: "End a family when its time is over", done: false },
    ],
    contextSummary:
      "Sessions were moved out of the user table in January. The refresh endpoint was written before that and knows nothing of devices. Support gets about ten calls a month from people who were logged out on a second device.",
    handoffNotes: "The spec reviewer wants to see the expiry next. The seed data has two users with expired families.",
    blockers: [],
    waitsFor: [],
  },
  alsoHolds: [],
  tree: [
    { id: "T1001", title: "Add the user model", status: "done", agent: "backend" },
    { id: "T1002", title: "Add the login endpoint", status: "done", agent: "backend" },
    { id: "T1003", title: "Login form keeps the return address", status: "done", agent: "frontend" },
    { id: "T4829", title: "Rotate refresh tokens", status: "in_progress", agent: "backend" },
    { id: "T1005", title: "Log out everywhere", status: "todo" },
    { id: "T1006", title: "Show active sessions in the account page", status: "todo" },
    { id: "T1007", title: "Rename the session cookies", status: "todo" },
    { id: "T1008", title: "Describe the flow for other teams", status: "todo" },
    { id: "T1009", title: "Load test of the refresh endpoint", status: "todo" },
  ],
  story: { id: "S2001", title: "Sessions survive a restart", status: "in_progress", done: 3, total: 9 },
  epic: { id: "E3001", title: "Accounts", priority: "P1" },
  plan: {
    file: "docs/plans/2026-02-27-sessions.md",
    section: "Task 4: Rotate refresh tokens",
    text: PLAN,
    lineCount: 412,
  },
  skills: [
    {
      id: "test-driven-development",
      because: "for implementation",
      as: "main",
      body: SKILL,
      brief: "Write the test first, see it fail, make it pass.",
      hash: "a1",
      activation: 'Skill(skill: "test-driven-development")',
    },
  ],
  wip: {
    phase: "testing",
    files_modified: ["src/auth/family.ts", "src/db/010-families.sql", "src/auth/rotate.ts", "test/auth/rotate.test.ts"],
    uncommitted_changes: true,
    uncommitted_files: ["src/auth/rotate.ts", "test/auth/rotate.test.ts"],
    last_commit: "4f2a9c1",
    decisions: [
      { decision: "Vitest stays", reason: "everything else in the project uses it" },
      {
        decision: "the table holds only the SHA-256 of a token",
        reason: "a copy of the database must not log anybody in",
      },
      { decision: "the description goes to docs/auth.md", reason: "next to the other flows" },
      { decision: "a used token revokes its whole family", reason: "we cannot tell the thief from the owner" },
      { decision: "the clock comes in as an argument", reason: "tests of expiry without waiting" },
      { decision: "the column is called parent_hash", reason: "as in the sessions table" },
      { decision: "10 seconds of grace for the token before", reason: "two tabs refresh at the same time" },
      { decision: "rotation is logged at log level info", reason: "operations asked for it" },
    ],
    test_results: {
      ran: true,
      passed: 41,
      failed: 1,
      failing_test: "rotate > revokes the family when a used token comes back",
      command: "npx vitest run src/auth",
    },
    errors: [
      {
        type: "test",
        file: "src/auth/rotate.ts:58",
        message: "AssertionError: expected 401, received 200",
        command: "npx vitest run src/auth",
      },
    ],
    context: "The second use of a token slips through when it comes within the grace time of another one.",
    next_step: "read the family row inside the transaction that marks the token as used",
    plan: { position: 3, done: 2, total: 4, current: "Reject a token that was used before" },
  },
  wipUpdatedAt: at("10:41"),
  handoffs: [
    {
      taskId: "T4829",
      taskTitle: "Rotate refresh tokens",
      role: "spec-reviewer",
      attempt: 1,
      status: "FAIL",
      summary: "Rotation works; the expiry of the family is never checked, so a family lives for ever.",
      at: at("09:55"),
    },
    {
      taskId: "T1003",
      taskTitle: "Login form keeps the return address",
      role: "implementer",
      attempt: 1,
      status: "PASS",
      summary: "The form sends the address it came from; only paths of our own are accepted. 6 tests.",
      at: at("08:20"),
    },
    {
      taskId: "T1002",
      taskTitle: "Add the login endpoint",
      role: "implementer",
      attempt: 1,
      status: "PASS",
      summary: "Login returns a session and a refresh token; five wrong passwords lock for a minute. 12 tests.",
      at: at("08:02"),
    },
    {
      taskId: "T1001",
      taskTitle: "Add the user model",
      role: "implementer",
      attempt: 2,
      status: "PASS",
      summary: "The model has its table and its checks; passwords are hashed with scrypt. 9 tests.",
      at: at("07:30"),
    },
  ],
  messages: [
    ...CHATTER.slice(0, 2).map((text, index) => message(index, "june", text)),
    {
      id: "M10",
      from: "june",
      text: "@backend please leave src/session/legacy.ts alone, the mobile app still ships with it",
      at: at("09:58"),
      isMention: true,
    },
    ...CHATTER.slice(2, 4).map((text, index) => message(index + 2, "ops", text)),
    {
      id: "M11",
      from: "docs",
      text: "@backend which header carries the family id? The page for other teams waits for it.",
      at: at("10:30"),
      isMention: true,
      taskId: "T4829",
    },
    ...CHATTER.slice(4).map((text, index) => message(index + 4, "frontend", text)),
  ].sort((a, b) => a.at.getTime() - b.at.getTime()),
  activity: [
    {
      at: at("10:41"),
      actor: "backend",
      kind: "wip",
      text: "ran the tests: 41 passed, 1 failed",
      subject: "T4829",
    },
    {
      at: at("10:12"),
      actor: "backend",
      kind: "status",
      text: "started again after the review",
      subject: "T4829",
    },
    { at: at("09:55"), actor: "spec-reviewer", kind: "handoff", text: "FAIL", subject: "T4829" },
    { at: at("09:31"), actor: "backend", kind: "commit", text: "4f2a9c1 families and their migration" },
    { at: at("08:20"), actor: "frontend", kind: "status", text: "done", subject: "T1003" },
    { at: at("08:02"), actor: "backend", kind: "status", text: "done", subject: "T1002" },
    { at: new Date("2026-03-03T16:10:00Z"), actor: "june", kind: "note", text: "renamed the users table to accounts" },
    { at: new Date("2026-03-03T15:00:00Z"), actor: "june", kind: "plan", text: "imported the plan: 9 tasks" },
  ],
  missing: [],
};

/**
 * The same facts among much more: a story of 60 tasks, a skill of three times the length, 12 more decisions, 62 messages, a plan
 * section of two pages. None of the additions matters for the next action. Of the decisions that matter, one is among the newest,
 * one among the oldest and two in between, because the age of a decision does not show its importance. The added decisions are
 * about another subject, which makes them easier to tell apart by their words than decisions on the same subject.
 */
export function crowded(): WakeState {
  const { wip, task, skills, plan } = STATE;
  const [vitest, hashed, docs, revoke, clock, column, grace, level] = wip?.decisions ?? [];
  const [skill] = skills;
  const other = OTHER_DECISIONS.map((decision) => ({ decision, reason: "agreed in the meeting on the release" }));
  const decisions = [
    ...[vitest, ...other.slice(0, 2), hashed, ...other.slice(2, 5), docs, ...other.slice(5, 6), revoke],
    ...[...other.slice(6, 8), clock, column, ...other.slice(8, 10), level, ...other.slice(10), grace, OTHER_NEWEST],
  ].flatMap((decision) => decision ?? []);
  const around = Array.from({ length: 51 }, (_, index) => ({
    id: `T2000000000${String(index).padStart(2, "0")}`,
    title: `${PAGES[index % PAGES.length]} in language ${index + 1}`,
    status: index < 30 ? ("done" as const) : ("todo" as const),
  }));
  const talk = Array.from({ length: 54 }, (_, index) =>
    message(
      index % 7,
      "ops",
      `build ${4100 + index} is on staging; ${PAGES[index % PAGES.length]?.toLowerCase()} were checked by hand`,
    ),
  );
  return {
    ...STATE,
    tree: [...around.slice(0, 30), ...STATE.tree, ...around.slice(30)],
    story: { ...STATE.story!, done: 33, total: 60 },
    ...(task && { task }),
    ...(wip && { wip: { ...wip, decisions } }),
    ...(skill && { skills: [{ ...skill, body: `${skill.body}\n${APPENDIX.repeat(5)}` }] }),
    ...(plan && { plan: { ...plan, text: `${plan.text}\n${APPENDIX.repeat(2)}` } }),
    handoffs: [
      ...STATE.handoffs,
      ...around.slice(0, 16).map(({ id, title }) => ({
        taskId: id,
        taskTitle: title,
        role: "implementer",
        attempt: 1,
        status: "PASS" as const,
        summary: `${title}: all texts are translated and fit their fields on small screens. 4 tests.`,
        at: at("07:00"),
      })),
    ],
    messages: [...talk, ...STATE.messages].sort((a, b) => a.at.getTime() - b.at.getTime()),
  };
}

const PAGES = ["Texts of the account page", "Texts of the e-mails", "Texts of the help pages", "Texts of the shop"];

const OTHER_NEWEST = { decision: "the release notes mention the change on one line", reason: "nobody reads two" };

const OTHER_DECISIONS = [
  "languages are switched by the path and not by a cookie",
  "dates are shown in the reader's own format",
  "the help pages keep their addresses",
  "prices are never translated",
  "pictures with text in them are drawn again",
  "the shop opens in the language of the last visit",
  "missing texts fall back to English",
  "plural forms come from the platform",
  "translators work on a copy",
  "e-mails are sent in the language of the account",
  "the glossary lives in the wiki",
];

const APPENDIX = `## Notes for translators

Texts are short and say what happens. They speak to one reader. A button names what it does, a heading what is below it. Numbers stand as digits. Names of products stay as they are, in every language and in every case. Where a language needs more room than English, the text is made shorter and not the type smaller.

## Checking by hand

Open each page in each language once, on a small screen and on a large one. Look for texts that are cut, for lines that break in odd places, for words that nobody translated. Write down the page, the language and the text, and put it into the list of the week. Do not mend it on the way: somebody else may be doing so.

## Where things are kept

The texts are in one file per language and page. The file of the first language is the one that counts; the others follow it within a week. What is no longer used is removed at the end of a release, not before.

`;

function message(index: number, from: string, text: string): WakeState["messages"][number] {
  return { id: `M${index}`, from, text, at: at(`09:${10 + index * 7}`), isMention: false };
}
