import { expect, it } from "vitest";
import type { WorkRecord } from "../../store/record-fields.ts";
import { columnOf, TASK_FIELDS, type TaskField, type TaskFieldSpec } from "../../work/task.ts";
import { viewTask } from "../../work/task-view.ts";
import { memoryWork } from "./memory-work.suite.ts";
import { createTask, TASK_INPUT, taskFieldsOf, updateTask } from "./tasks.ts";

const NAMES = Object.keys(TASK_FIELDS) as TaskField[];

/** A value for every field of the table, by its key. */
function everyField(ids: { story_id: string; parent_id: string }): Record<string, unknown> {
  const sample = ({ key, kind }: TaskFieldSpec): unknown => {
    if (kind === "id") return ids[key as keyof typeof ids];
    if (kind === "hours") return 3;
    if (kind === "paths") return ["src/a.ts"];
    if (kind === "steps") return ["first"];
    return typeof kind === "string" ? `some ${key}` : kind[1];
  };
  return Object.fromEntries(NAMES.map((name) => [TASK_FIELDS[name].key, sample(TASK_FIELDS[name])]));
}

it("stores, shows, exports and imports every field that the table has", async () => {
  const work = memoryWork();
  const { store, by } = work;
  const story = await store.createStory({ title: "Story" }, by);
  const parent = await createTask({ title: "Whole", storyId: story.id }, work);
  const input = everyField({ story_id: story.id, parent_id: parent.id });
  const task = await createTask({ ...taskFieldsOf(input), title: String(input["title"]) }, work);
  for (const name of NAMES) expect(task[name], name).toBeDefined();

  const view = viewTask(task, "full");
  const shown = NAMES.filter((name) => name !== "planFile" && name !== "planSection").map(
    (name) => TASK_FIELDS[name].key,
  );
  expect(Object.keys(view)).toEqual(expect.arrayContaining([...shown, "traceability_ref"]));

  const records: WorkRecord[] = [];
  for await (const record of store.exportRecords()) records.push(record);
  const record = records.find((one) => one.kind === "task" && one.id === task.id);
  expect(Object.keys(record ?? {})).toEqual(expect.arrayContaining(NAMES.map(columnOf)));
  const other = memoryWork();
  await other.store.importRecords(records, {}, by);
  expect(await other.store.getTask(task.id, by.at)).toMatchObject(JSON.parse(JSON.stringify(task), dates));
});

const dates = (name: string, value: unknown) => (name.endsWith("At") ? new Date(String(value)) : value);

it("changes every field but where the task came from, and clears those that may be empty", async () => {
  const work = memoryWork();
  const story = await work.store.createStory({ title: "Story" }, work.by);
  const parent = await createTask({ title: "Whole" }, work);
  const { id } = await createTask({ title: "Bare" }, work);
  const { source: _, ...fields } = taskFieldsOf(everyField({ story_id: story.id, parent_id: parent.id }));
  const changed = await updateTask({ ...fields, taskId: id }, work);
  for (const name of NAMES.filter((one) => one !== "source")) expect(changed[name], name).toBeTruthy();
  const cleared = await updateTask({ taskId: id, description: "", skill: null, estimateHours: null }, work);
  expect([cleared.description, cleared.skill, cleared.estimateHours]).toEqual([undefined, undefined, undefined]);
});

it("tells tools the kind of every field", () => {
  expect(Object.keys(TASK_INPUT)).toEqual(NAMES.map((name) => TASK_FIELDS[name].key));
  expect(TASK_INPUT.task_type.enum).toContain("bug");
  expect(TASK_INPUT.files).toEqual({ type: "array", items: { type: "string" } });
});
