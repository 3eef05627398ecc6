import { beforeEach, describe, expect, it } from "vitest";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { computeQueue } from "../../store/sqlite/work/queue.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { PlanReport } from "../../store/work-store.ts";
import type { Task } from "../../work/task.ts";
import { importPlan, type PlanFile } from "./import-plan.ts";

const by = { name: "ann", isPerson: true, at: new Date("2026-11-16T09:30:00.000Z") };
const file = "docs/plan.md";

let handle: StoreHandle;
let store: SqliteWorkStore;
beforeEach(() => {
  handle = openMemoryStore();
  store = new SqliteWorkStore(handle);
});

function take(text: string, more: Partial<PlanFile> = {}): Promise<PlanReport> {
  return importPlan(new SqliteWorkStore(handle), { file, text, ...more }, by);
}

async function tasks(): Promise<Task[]> {
  const { items } = await store.listTasks({ limit: 100, at: by.at });
  return items.sort((a, b) => (a.planSection ?? "").localeCompare(b.planSection ?? ""));
}

const titles = (list: readonly { title: string }[]) => list.map(({ title }) => title);

const PLAN = `# Lantern

### Task 1: Sensor
**Files:** \`src/sensor.ts\`
- [ ] Write it
- [ ] Test it

### Task 2: Switch
**Depends on:** Task 1
**Done when:** it switches.

### Task 3: Case
`;

describe("importPlan", () => {
  it("makes a story and tasks with their section, files, steps, criteria and dependencies", async () => {
    const report = await take(PLAN);
    expect(report).toMatchObject({
      story: { title: "Lantern", isNew: true },
      updated: [],
      unchanged: [],
      gone: [],
      problems: [],
    });
    expect(titles(report.created)).toEqual(["Sensor", "Switch", "Case"]);
    const [sensor, second] = await tasks();
    expect(sensor).toMatchObject({
      title: "Sensor",
      storyId: report.story?.id,
      source: "plan",
      planFile: file,
      planSection: "Task 1: Sensor",
      files: ["src/sensor.ts"],
      steps: [
        { text: "Write it", done: false },
        { text: "Test it", done: false },
      ],
      status: "todo",
    });
    expect(second?.acceptanceCriteria).toBe("- it switches.");
    const { dependsOn } = await store.listDependencies(second?.id ?? "");
    expect(dependsOn).toMatchObject([{ id: sensor?.id, type: "blocks" }]);
    expect(await store.getStory(report.story?.id ?? "")).toMatchObject({ source: "plan" });
  });

  it("changes nothing the second time", async () => {
    const first = await take(PLAN);
    const before = await tasks();
    const report = await take(PLAN);
    expect(titles(report.unchanged)).toEqual(["Sensor", "Switch", "Case"]);
    expect(report).toMatchObject({ created: [], updated: [], gone: [], story: { id: first.story?.id, isNew: false } });
    expect(await tasks()).toEqual(before);
  });

  it("follows the plan and names the fields that changed", async () => {
    await take(PLAN);
    const edited = PLAN.replace("# Lantern", "# Lamp")
      .replace("src/sensor.ts", "src/lux.ts")
      .replace("it switches", "it clicks")
      .replace("### Task 3: Case", "### Task 3: Case\n\nOf wood.\nDepends on: Task 2");
    const report = await take(edited);
    expect(report.updated.map(({ title, fields }) => [title, fields])).toEqual([
      ["Sensor", ["files"]],
      ["Switch", ["acceptance_criteria"]],
      ["Case", ["description", "depends_on"]],
    ]);
    expect(report.story?.title).toBe("Lamp");
    expect((await tasks())[2]?.description).toBe("Of wood.");
  });

  it("never touches status, claim and WIP, and keeps a step done that an agent has done", async () => {
    await take(PLAN);
    const [sensor] = await tasks();
    const id = sensor?.id ?? "";
    const agent = { name: "bot", at: by.at };
    await store.claim({ taskId: id, leaseMs: 60_000 }, agent);
    await store.updateTask(
      id,
      {
        steps: [
          { text: "Write it", done: true },
          { text: "Test it", done: false },
        ],
        assignee: "bot",
      },
      agent,
    );
    await store.updateWip({ taskId: id, merge: () => ({ wip: { phase: "testing" }, changes: [] }) }, agent);
    const report = await take(PLAN.replace("- [ ] Write it", "- [ ] Draw it\n- [ ] Write `it`"));
    expect(report.updated).toMatchObject([{ title: "Sensor", fields: ["steps"] }]);
    expect(await store.getTask(id, by.at)).toMatchObject({
      status: "in_progress",
      claim: { agent: "bot" },
      wip: { phase: "testing" },
      assignee: "bot",
      steps: [
        { text: "Draw it", done: false },
        { text: "Write `it`", done: true },
        { text: "Test it", done: false },
      ],
    });
  });

  it("keeps what was added to a task and the plan says nothing about", async () => {
    await take(PLAN);
    const id = (await tasks())[2]?.id ?? "";
    await store.updateTask(id, { description: "Ours", files: ["case.stl"], skill: "cad" }, by);
    expect((await take(PLAN)).updated).toEqual([]);
    expect(await store.getTask(id, by.at)).toMatchObject({ description: "Ours", files: ["case.stl"], skill: "cad" });
  });

  it("finds tasks again when they were renumbered or renamed", async () => {
    await take(PLAN);
    const ids = (await tasks()).map(({ id }) => id);
    const report = await take(
      "# Lantern\n### Task 1: Battery\n### Task 2: Sensor\n### Task 3: Switch\n### Task 4: Housing\n",
    );
    // Case was Task 3, but Switch has that number now: nothing shows that Housing is Case.
    expect(titles(report.created)).toEqual(["Battery", "Housing"]);
    expect(report.updated.map(({ id, number }) => [id, number])).toEqual([
      [ids[0], "2"],
      [ids[1], "3"],
    ]);
    expect(titles(report.gone)).toEqual(["Case"]);
    const renamed = await take(
      "# Lantern\n### Task 1: Accumulator\n### Task 2: Sensor\n### Task 3: Switch\n### Task 4: Housing\n",
    );
    expect(renamed.created).toEqual([]);
    expect(renamed.updated).toMatchObject([{ title: "Accumulator", fields: ["title", "plan_section"] }]);
  });

  it("does not take a new task for one that is done because of its number", async () => {
    await take(PLAN);
    const id = (await tasks())[2]?.id ?? "";
    await store.setStatus({ taskId: id, status: "done", leaseMs: 1000 }, by);
    const report = await take(PLAN.replace("Task 3: Case", "Task 3: Handle"));
    expect(titles(report.created)).toEqual(["Handle"]);
    expect(report.gone).toEqual([{ id, number: "3", title: "Case", status: "done" }]);
    expect((await store.getTask(id, by.at)).title).toBe("Case");
  });

  it("starts a new task as done when the plan has checked it off, and says when a known one is not", async () => {
    const checked = PLAN.replaceAll("[ ]", "[x]");
    await take(checked);
    expect((await tasks()).map(({ status }) => status)).toEqual(["done", "todo", "todo"]);
    const again = await take(checked.replace("### Task 3: Case", "### Task 3: Case ✅"));
    expect(again.behind).toMatchObject([{ number: "3", title: "Case", status: "todo" }]);
    expect(again.problems).toEqual([]);
    expect((await tasks())[2]?.status).toBe("todo");
  });

  it("makes each task wait for the one before it when asked to", async () => {
    await take(PLAN, { isSequential: true });
    const [, second, third] = await tasks();
    expect((await store.listDependencies(third?.id ?? "")).dependsOn).toMatchObject([{ id: second?.id }]);
    expect((await take(PLAN, { isSequential: true })).updated).toEqual([]);
  });

  it("reports a dependency that would close a cycle and imports the rest", async () => {
    const report = await take("### Task 1: A\nDepends on: Task 2\n### Task 2: B\nDepends on: Task 1\n");
    expect(report.created).toHaveLength(2);
    expect(report.problems).toMatchObject([
      { where: "Task 2", text: expect.stringContaining("would wait for itself") },
    ]);
  });

  it("writes nothing in a dry run, and reports the same", async () => {
    const dry = await take(PLAN, { isDryRun: true });
    expect(await tasks()).toEqual([]);
    expect((await store.listStories({ limit: 10 })).total).toBe(0);
    const real = await take(PLAN);
    expect(titles(real.created)).toEqual(titles(dry.created));
  });

  it("makes nothing at all from a text without tasks", async () => {
    const report = await take("# Just a heading\n");
    expect(report.problems).toMatchObject([{ where: file, text: expect.stringContaining("no task was found") }]);
    expect((await store.listStories({ limit: 10 })).total).toBe(0);
  });

  it("puts tasks into a given story, the story into a given epic, and never both", async () => {
    const story = await store.createStory({ title: "Given" }, by);
    expect((await take(PLAN, { storyId: story.id.slice(0, -1) })).story).toEqual({
      id: story.id,
      title: "Given",
      isNew: false,
    });
    const epic = await store.createEpic({ title: "E" }, by);
    const other = await take(PLAN, { file: "docs/dark_mode.md", epicId: epic.id });
    expect(await store.getStory(other.story?.id ?? "")).toMatchObject({ epicId: epic.id });
    await expect(take(PLAN, { storyId: story.id, epicId: epic.id })).rejects.toMatchObject({ code: "input-invalid" });
    await expect(take(PLAN, { file: "new.md", epicId: "E000" })).rejects.toMatchObject({ code: "not-found" });
  });

  it("names the story after the file when the plan has no title", async () => {
    const report = await take("## Task 1: A\n", { file: "docs/2026-11-16-dark_mode.md" });
    expect(report.story?.title).toBe("dark mode");
  });

  it("leaves the queue as one computed from scratch", async () => {
    await take(PLAN.replaceAll("[ ]", "[x]"), { isSequential: true });
    const rows = handle.db
      .prepare("SELECT * FROM queue ORDER BY task")
      .all()
      .map((row) => Object.values(row));
    expect(rows).toEqual(computeQueue(handle.db));
  });
});
