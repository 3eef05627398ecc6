/** Two clones of a project that both gave the ID T4829 to a task of their own, through the built bins. */
import { expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";
import { startServer } from "./mcp-client.ts";

const HEADER = '{"haversack":"work","version":1}';

function clone(title: string, createdAt: string) {
  const project = scratchProject();
  const task = { kind: "task", type: "feature", status: "todo", priority: "P2", created_at: createdAt };
  const lines = [
    { ...task, id: "T4829", title, updated_at: createdAt },
    { ...task, id: "T482913577204", title: "From before", created_at: "2026-01-01T00:00:00Z", updated_at: createdAt },
  ];
  const text = [HEADER, ...lines.map((line) => JSON.stringify(line))].join("\n");
  expect(project.haversack(["import", "-"], { stdin: text }).code).toBe(0);
  return project;
}

function say(project: Scratch, ...words: string[]): string {
  const { code, out, err } = project.haversack(words);
  expect({ words, code, err }).toEqual({ words, code: 0, err: "" });
  return out;
}

function pull(project: Scratch, from: Scratch): string {
  const { code, out } = project.haversack(["import", "-"], { stdin: say(from, "export") });
  expect(code).toBe(0);
  return out;
}

it("exchange their exports: the incoming task is renamed, each id of either clone leads to its task, and nothing doubles", async () => {
  const ann = clone("Ann's", "2026-11-01T08:00:00Z");
  const ben = clone("Ben's", "2026-11-02T08:00:00Z");

  const report = pull(ann, ben);
  const bensAtAnns = /^ {2}T4829 is now (T\d{4})$/m.exec(report)?.[1] ?? "";
  expect(report).toContain("Renamed, because something else has the id:\n");
  expect(pull(ann, ben)).toBe("Nothing new.\n2 are there already.\n");

  const back = pull(ben, ann);
  const annsAtBens = /^ {2}T4829 is now (T\d{4})$/m.exec(back)?.[1] ?? "";
  expect(back).toContain(`Already here under another id:\n  ${bensAtAnns} is T4829\n`);
  expect(pull(ben, ann)).not.toMatch(/Renamed|Already here|Added/);
  expect(pull(ann, ben)).not.toMatch(/Renamed|Added/);
  for (const project of [ann, ben]) expect(say(project, "task", "list")).toContain("3 tasks.");

  // The exact ID means the clone's own task. The output also says which task has this ID in the other clone.
  expect(say(ann, "task", "show", "t4829")).toMatch(
    new RegExp(`^T4829 {2}Ann's\\n[^]*aliases +${annsAtBens}\\n *alias of +${bensAtAnns} Ben's \\(todo\\)`, "m"),
  );
  expect(say(ben, "task", "show", bensAtAnns)).toMatch(
    new RegExp(`^T4829 {2}Ben's\\n[^]*aliases +${bensAtAnns}\\n`, "m"),
  );
  expect(JSON.parse(say(ben, "task", "show", bensAtAnns, "--json"))).toMatchObject({
    id: "T4829",
    title: "Ben's",
    aliases: [bensAtAnns],
    alias_of: [{ id: annsAtBens, title: "Ann's", status: "todo" }],
  });

  // The old ID of twelve digits, complete and as a prefix.
  for (const id of ["T482913577204", "T48291"]) expect(say(ann, "task", "show", id)).toContain("From before");
  expect(ann.haversack(["task", "show", "T482"])).toMatchObject({ code: 1, out: "" });

  // Commands and tools both accept the other clone's name.
  say(ben, "task", "dep", annsAtBens, "--add", bensAtAnns);
  expect(JSON.parse(say(ben, "task", "show", annsAtBens, "--json"))).toMatchObject({ waits_for: [{ id: "T4829" }] });
  say(ben, "agent", "add", "june", "--role", "implementer");
  say(ben, "agent", "message", "@june", "look", "--about", bensAtAnns);
  expect(say(ben, "agent", "inbox", "june")).toContain("T4829");
  const server = await startServer(ben);
  const ask = async (name: string, input: object) => (await server.call(name, input as Record<string, unknown>)).text;
  expect(JSON.parse(await ask("get_task", { task_id: bensAtAnns }))).toMatchObject({ id: "T4829", title: "Ben's" });
  expect(await ask("get_task", { task_id: bensAtAnns.slice(0, -1) })).toMatch(/^there is no task/);
  expect(await ask("get_task", { task_id: "T48291" })).toBe(
    'there is no task "T48291"; did you mean T482913577204? Give IDs in full.',
  );
  expect(JSON.parse(await ask("update_task_status", { task_id: bensAtAnns, status: "done" }))).toBeDefined();
  expect(JSON.parse(say(ben, "task", "show", "T4829", "--json")).status).toBe("done");

  // Events under the alias reach ann under her own ID.
  expect(pull(ann, ben)).toContain(`${bensAtAnns}: `);
  expect(JSON.parse(say(ann, "task", "show", bensAtAnns, "--json")).status).toBe("done");
});
