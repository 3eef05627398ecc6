/** `haversack top` without a terminal: one look at sessions, claims and runs. The drawing is in src/cli/screen.test.ts. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { processSpace } from "../packages/haversack/src/base/process-space.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteRunStore } from "../packages/haversack/src/store/sqlite/work/sqlite-run-store.ts";
import { scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

const DRAWN = { isTerminal: true, env: { LANG: "C.UTF-8", TERM: "xterm" } };

it("shows sessions with their window, claims with their lease, and runs", async () => {
  const project = scratchProject();
  const { root, home } = project;
  const id = project.haversack(["task", "create", "Sew the \u001b[31mstrap", "--json"]).json().id;
  project.haversack(["task", "claim", id], { env: { HAVERSACK_AGENT: "june" } });
  project.hook({ session_id: "s1", cwd: root, hook_event_name: "UserPromptSubmit", prompt: "hello there" });
  project.hook({ session_id: "s2", cwd: root, hook_event_name: "UserPromptSubmit", prompt: "hello there" });
  project.hook({ session_id: "s2", cwd: root, hook_event_name: "SessionEnd", reason: "other" });
  const usage = { input_tokens: 1_000, cache_read_input_tokens: 149_000, output_tokens: 0 };
  const answer = { type: "assistant", timestamp: new Date().toISOString(), message: { usage } };
  mkdirSync(join(home, ".claude/projects/-p"), { recursive: true });
  writeFileSync(join(home, ".claude/projects/-p/s1.jsonl"), `${JSON.stringify(answer)}\n`);
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "full" });
  const runs = new SqliteRunStore(handle);
  const started = (ageMs: number, process: number) =>
    runs.createRun({
      ...{ scope: { kind: "all" }, client: "codex", options: {}, machine: "here" },
      ...{ process: { id: process, space: processSpace() }, startedAt: new Date(Date.now() - ageMs) },
    });
  const now = await started(60_000, process.pid);
  await runs.addSession({ runId: now.id, purpose: "batch", taskIds: [id], startedAt: new Date() });
  await runs.updateSession(now.id, 1, { usedTokens: 50, windowTokens: 100, inputTokens: 70, outputTokens: 7 });
  const old = await started(3 * 86_400_000, process.pid);
  await runs.updateRun(old.id, { state: "ended", endedAt: new Date(Date.now() - 2 * 86_400_000) });
  handle.db.close();

  const { code, out } = project.haversack(["top", "--json"]);
  expect(code).toBe(0);
  const view = JSON.parse(out);
  expect(view.sessions).toMatchObject([
    {
      ...{ session_id: "s1", client: "claude-code", prompts: 1 },
      context: { used_tokens: 150_000, window_tokens: 200_000, is_assumed: true },
    },
  ]);
  expect(view.claims).toMatchObject([{ task_id: id, agent: "june" }]);
  expect(view.runs).toMatchObject([{ id: now.id, state: "running", fill: 0.5, tokens: 77 }]);
  expect(view.tasks).toMatchObject({ in_progress: 1, ready: 0 });

  const text = project.haversack(["top"]).out;
  expect(text).toMatch(/claude-code +s1 +75% of 200k\? +1 prompt/);
  expect(text).toMatch(new RegExp(`${id} +june +60 min left +Sew the strap`));
  expect(text).toMatch(new RegExp(`${now.id} +running +codex +all +50% +0 of 0 done +77 tokens`));
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("█");
  expect((await run(project, ["top", "--once"], DRAWN)).out).toContain("████████░░ 75%");
});

it("says what there is nothing of, and needs no store", async () => {
  const project = scratchProject();
  const { code, out } = project.haversack(["top"]);
  expect(code).toBe(0);
  // A terminal that cannot move the cursor gets the same.
  const dumb = await run(project, ["top"], { isTerminal: true, env: { TERM: "dumb" } });
  expect(dumb).toMatchObject({ code: 0, out });
  expect(out).toContain("No session is open.");
  expect(out).toContain("Nobody holds a task.");
  expect(out).toContain("No run is at work.");
});

it("draws charts below usage and metrics in a terminal, and none elsewhere", async () => {
  const project = scratchProject();
  project.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots in ropes.\n---\nBody.\n");
  project.haversack(["skill", "index"]);
  for (const session of ["s1", "s2"])
    project.hook({
      session_id: session,
      cwd: project.root,
      hook_event_name: "UserPromptSubmit",
      prompt: "tie knots in ropes",
    });
  const drawn = (await run(project, ["usage"], DRAWN)).out;
  expect(drawn).toMatch(
    /native listing {6}[▂-█]{2} {2}\d+ in all\n {2}added by Haversack {2}[▂-█]{2} {2}\d+ in all\n$/,
  );
  expect(project.haversack(["usage"]).out).not.toMatch(/[▁-█]/);
  const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "full" });
  const runs = new SqliteRunStore(handle);
  for (const days of [1, 0]) {
    const startedAt = new Date(Date.now() - days * 86_400_000);
    const { id } = await runs.createRun({
      ...{ scope: { kind: "all" }, client: "codex", options: {}, machine: "here", startedAt },
      process: { id: process.pid, space: processSpace() },
    });
    await runs.addSession({ runId: id, purpose: "batch", taskIds: [], startedAt });
  }
  handle.db.close();
  expect((await run(project, ["metrics"], DRAWN)).out).toMatch(
    /By day, .*\n {2}Tasks done {2}▁▁ {2}most 0\n {2}Sessions {4}██ {2}most 1\n$/,
  );
  expect((await run(project, ["metrics"])).out).not.toMatch(/By day/);
});
