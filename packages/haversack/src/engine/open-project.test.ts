import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LiveSkills } from "./live-skills.ts";
import { type Access, findProject, KeptProject, openProject } from "./open-project.ts";
import { LiveWork } from "./work/live-work.ts";
import { createTask } from "./work/tasks.ts";

function place({ hasState }: { hasState: boolean }) {
  const cwd = mkdtempSync(join(tmpdir(), "haversack-open-"));
  mkdirSync(join(cwd, ".git"));
  if (hasState) mkdirSync(join(cwd, ".haversack"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return { cwd, env: { HOME: join(cwd, "home") } };
}

it.each<[Access, { hasState: boolean; isMade: boolean }]>([
  ["save", { hasState: false, isMade: true }],
  ["answer", { hasState: false, isMade: true }],
  ["look", { hasState: false, isMade: false }],
  ["look", { hasState: true, isMade: false }],
  ["serve", { hasState: false, isMade: false }],
  ["serve", { hasState: true, isMade: true }],
])("%s, %j", (access, { hasState, isMade }) => {
  const at = place({ hasState });
  const project = openProject(findProject(at), { access });
  expect(project.isMemory).toBe(!isMade);
  expect(existsSync(join(at.cwd, ".haversack/haversack.db"))).toBe(isMade);
  project.close();
});

it("says where nothing is kept because there is no project", () => {
  const at = place({ hasState: false });
  rmSync(join(at.cwd, ".git"), { recursive: true });
  const notes: string[] = [];
  openProject(findProject(at), { access: "answer", note: (text) => notes.push(text) }).close();
  expect(notes).toEqual([expect.stringContaining("there is no project in")]);
});

const CALL = { marks: {}, client: "test", at: new Date("2031-05-06T07:00:00.000Z") };

it("gives work and skills of a process that stays the same connection", async () => {
  const kept = new KeptProject(place({ hasState: true }));
  onTestFinished(() => kept.close());
  const skills = new LiveSkills({ project: kept, log: () => undefined });
  expect(skills.servedIds()).toEqual([]);
  const { handle } = kept.current({ busyMs: 100 });
  expect(await new LiveWork(kept).read(CALL, async (parts) => parts.handle === handle)).toBe(true);
});

it("leaves the store open for a call that is still running when somebody closes it", async () => {
  const kept = new KeptProject(place({ hasState: true }));
  onTestFinished(() => kept.close());
  const work = new LiveWork(kept);
  const task = await work.write(CALL, async (parts) => {
    kept.close();
    return createTask({ title: "A" }, parts);
  });
  const again = kept.current({ busyMs: 100 });
  expect(await work.read(CALL, ({ store }) => store.getTask(task.id, CALL.at))).toMatchObject({ title: "A" });
  expect(again.isMemory).toBe(false);
});
