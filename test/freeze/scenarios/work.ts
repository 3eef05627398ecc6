/** Tasks in hand, work that was left, sub-agents, messages. */
import type { Scenario } from "../scenario.ts";
import {
  bare,
  byHand,
  createTask,
  inShell,
  OTHER_PROMPT,
  PDF_PROMPT,
  passing,
  TASK,
  withTask,
  written,
} from "./seeds.ts";
import type { Voice } from "./voices.ts";

const HOUR_MS = 60 * 60_000;
const OTHER = "11111111-1111-4000-8000-000000000009";
const THIRD = "22222222-2222-4000-8000-000000000009";

const FAILED = " FAIL  src/form.test.ts > dates\nAssertionError: expected 1 to be 2\n Tests  1 failed | 2 passed (3)\n";
const PASSED = " Tests  3 passed (3)\n";

export function work(voice: Voice): Scenario[] {
  const { start, prompt, afterEdit, shell, stop, end } = voice;
  const scenarios: Scenario[] = [
    {
      name: "task-in-hand",
      about: "a session claims a task, edits, runs tests and commits; its window is compacted; it ends and resumes",
      seed: (project) => withTask(voice, project),
      steps: [
        ...start("startup"),
        prompt(`Do ${TASK}.`),
        inShell(voice, ["claim", TASK]),
        written("src/form.ts"),
        afterEdit("src/form.ts"),
        shell("npx vitest run", FAILED, 1),
        written("src/form.ts", "y\n"),
        afterEdit("src/form.ts"),
        shell("npx vitest run", PASSED, 0),
        shell("npx tsc --noEmit", "src/form.ts(1,1): error TS2304: Cannot find name 'x'.\n", 1),
        inShell(voice, ["wip", TASK, '{"next_step":"Write the dates","decisions":["ISO dates"]}']),
        written("generated.txt"),
        ...stop(),
        ...voice.compaction(),
        prompt(PDF_PROMPT),
        shell("git add -A && git commit -m Form", "[main abc1234] Form\n 2 files changed, 2 insertions(+)\n", 0),
        ...stop(),
        ...end(),
        ...start("resume", { after: HOUR_MS }),
        prompt(OTHER_PROMPT),
        ...end(),
        passing("a day passes", 24 * HOUR_MS),
        byHand("status"),
        ...start("resume"),
        prompt(OTHER_PROMPT),
        ...start("clear"),
        prompt(OTHER_PROMPT),
        inShell(voice, ["task", "done", TASK]),
        ...stop(),
        ...end(),
      ],
    },
    {
      name: "no-task",
      about: "edits that belong to no task, kept with the session; the next session hears of them once",
      seed: (project) => bare(voice, project),
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        written("a.txt", "changed\n"),
        afterEdit("a.txt"),
        shell("npx vitest run", FAILED, 1),
        shell("curl -H 'Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' example.invalid", "no\n", 1),
        ...voice.compaction(),
        prompt(OTHER_PROMPT),
        ...stop(),
        ...end(),
        ...start("startup", { session: OTHER }),
        prompt(OTHER_PROMPT, { session: OTHER }),
        ...start("startup", { session: THIRD }),
        prompt(OTHER_PROMPT, { session: THIRD }),
      ],
    },
    {
      name: "left-work",
      about: "a session leaves a task unfinished: others hear of it once it is over, and not while it runs",
      seed: (project) => withTask(voice, project),
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        inShell(voice, ["claim", TASK]),
        written("src/form.ts"),
        afterEdit("src/form.ts"),
        inShell(voice, ["wip", TASK, '{"next_step":"Write the dates"}']),
        ...start("startup", { session: OTHER }),
        prompt(OTHER_PROMPT, { session: OTHER }),
        ...end(),
        ...start("startup", { session: THIRD, after: 2 * HOUR_MS }),
        prompt(OTHER_PROMPT, { session: THIRD }),
        inShell(voice, ["claim", TASK], THIRD),
        afterEdit("src/more.ts", { session: THIRD }),
        ...start("resume", { after: HOUR_MS }),
        prompt(OTHER_PROMPT),
      ],
    },
    {
      name: "sub-agent-without-task",
      about: "a sub-agent whose prompt names no task",
      async seed(project) {
        await withTask(voice, project);
      },
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        ...voice.subAgent("Look around."),
        ...voice.subAgent(PDF_PROMPT),
      ],
    },
    {
      name: "sub-agent-with-task",
      about: "a sub-agent whose prompt names a task; its handoff takes the place of its answer",
      async seed(project) {
        await withTask(voice, project);
        await createTask(project, "Check the form");
        await project.cli(["config", "set", "work.replace_results", "on"]);
      },
      steps: [
        ...start("startup"),
        prompt(OTHER_PROMPT),
        inShell(voice, ["claim", TASK]),
        ...withHandoff(voice, voice.subAgent("Implement T1002, and nothing else.")),
        ...stop(),
        ...end(),
      ],
    },
    {
      name: "messages",
      about:
        "a session with a name: messages reach it at its start, with prompts, with tool results and at the end of a turn",
      async seed(project) {
        await withTask(voice, project);
        await project.cli(["agent", "add", "june", "--role", "orchestrator"]);
        await project.cli(["agent", "add", "otto", "--role", "implementer"]);
        await project.cli(["agent", "message", "@june", "Look at the spec.", "--agent", "otto"]);
      },
      steps: [
        ...start("startup", { env: { HAVERSACK_AGENT: "june" } }),
        prompt(OTHER_PROMPT, { env: { HAVERSACK_AGENT: "june" } }),
        byHand("agent", "message", "@june", "And at the tests.", "--agent", "otto"),
        prompt(OTHER_PROMPT),
        byHand("agent", "message", "@june", "The tests are red.", "--agent", "otto"),
        afterEdit("src/form.ts"),
        byHand("agent", "message", "@june", "Are you there?", "--agent", "otto"),
        ...stop({ with: { stop_hook_active: true } }),
        ...stop(),
        ...stop(),
        inShell(voice, ["claim", TASK]),
        ...voice.compaction(),
        prompt(OTHER_PROMPT),
        ...end(),
      ],
    },
    {
      name: "worktree",
      about: "a session in a linked worktree shares the store and keeps its own place",
      async seed(project) {
        await withTask(voice, project);
        project.git("worktree", "add", "--quiet", project.side, "-b", "side");
      },
      steps:
        voice.client === "opencode"
          ? []
          : [
              ...start("startup", { with: { cwd: "/side" } }),
              prompt(PDF_PROMPT, { with: { cwd: "/side" } }),
              inShell(voice, ["claim", TASK]),
              afterEdit("src/form.ts", { with: { cwd: "/side" } }),
              ...end({ with: { cwd: "/side" } }),
              ...start("startup", { session: OTHER, after: 2 * HOUR_MS }),
              prompt(OTHER_PROMPT, { session: OTHER }),
            ],
    },
  ];
  return scenarios.filter(({ steps }) => steps.length > 0);
}

/** The sub-agent stores its handoff before it answers: before its last two events. */
function withHandoff(voice: Voice, steps: Scenario["steps"]): Scenario["steps"] {
  const agent =
    voice.client === "claude-code"
      ? "a0000000000000001"
      : voice.client === "opencode"
        ? "ses_0009"
        : "00000000-0000-7000-8000-000000000003";
  const stored = inShell(
    voice,
    ["handoff", "set", "T1002", "--status", "PASS", "--summary", "It is done.", "--details", "-"],
    `${voice.session}/${agent}`,
    "All of it.",
  );
  return [...steps.slice(0, -2), stored, ...steps.slice(-2)];
}
