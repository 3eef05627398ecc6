/** Several ids wherever one is taken: one outcome for each, and the exit code of the worst. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS, namesOf } from "../packages/haversack/src/cli/table.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

/** What takes one thing only, and why. */
const ONE_ONLY: Readonly<Record<string, string>> = {
  "task create": "a title",
  "epic create": "a title",
  "story create": "a title",
  "handoff set": "one result",
  "runs follow": "watches one run",
  "agent wake": "one packet, for one agent",
  "agent prompt": "one message, for one agent",
  "review dispatch": "one prompt, for one role",
  "review record": "one answer",
  "artifacts refs": "one block, for one role",
  "artifacts section": "a file and a heading",
  "skill new": "one skill",
  "store backup": "one file",
  "store restore": "one file",
  "store use": "one address",
  "store migrate": "one address",
  "store member": "an action and a name; each new member has a password of its own",
  import: "one file",
  export: "one file",
  completion: "one shell",
  recall: "parts of one output",
  replay: "one recording",
};

it("every command takes several, or is listed here with its reason", async () => {
  const names = COMMANDS.flatMap((entry) => namesOf(entry).map((name) => ({ entry, name })));
  const single: string[] = [];
  for (const { entry, name } of names) {
    const { spec } = await entry.load(name);
    if (spec.arguments?.length && !spec.arguments.some(({ many }) => many)) single.push(name);
  }
  expect(single.sort()).toEqual(Object.keys(ONE_ONLY).sort());
});

async function project() {
  const scratch = scratchProject();
  for (const name of ["pdf", "sql"]) {
    const text = `---\nname: ${name}\ndescription: Knows about ${name}.\n---\nBody of ${name}.\n`;
    scratch.write(`.claude/skills/${name}/SKILL.md`, text);
  }
  const env = { PATH: process.env["PATH"] ?? "", HOME: scratch.home };
  const cli = (...words: string[]) => run({ root: scratch.root, home: scratch.home }, words, { env });
  const create = async (...words: string[]) => {
    const ran = await cli(...words, "--json");
    expect(ran.err).toBe("");
    return ran.json().id as string;
  };
  const epic = await create("epic", "create", "Uploads");
  const story = await create("story", "create", "Limits", "--epic", epic);
  const one = await create("task", "create", "One", "--story", story);
  const other = await create("story", "create", "Errors", "--epic", epic);
  const two = await create("task", "create", "Two", "--story", other);
  return { scratch, cli, epic, story, one, two };
}

describe("with an id that does not exist", () => {
  it.each<[string, (ids: Awaited<ReturnType<typeof project>>) => string[], number]>([
    ["task show", ({ one, two }) => ["task", "show", one, "T99999", two], 1],
    ["task dep", ({ one, two }) => ["task", "dep", one, "T99999", two], 1],
    ["task list", ({ story, epic }) => ["task", "list", story, "E99999", epic], 1],
    ["task list with a task", ({ story, one, epic }) => ["task", "list", story, one, epic], 2],
    ["task log", ({ one, two }) => ["task", "log", one, "T99999", two], 1],
    ["task done", ({ one, two }) => ["task", "done", one, "T99999", two], 1],
    ["wip", ({ one, two }) => ["wip", one, "T99999", two], 1],
    ["wip with JSON", ({ one, two }) => ["wip", one, "T99999", two, '{"next_step":"x"}'], 1],
    ["handoff list", ({ one, two }) => ["handoff", "list", one, "T99999", two], 1],
    ["epic show", ({ epic }) => ["epic", "show", epic, "E99999"], 1],
    ["skill show", () => ["skill", "show", "pdf", "nosuch", "sql"], 1],
    ["agent add", () => ["agent", "add", "june", "no name", "may", "--role", "implementer"], 2],
    ["config get", () => ["config", "get", "log.keep", "skills.max_skills"], 0],
  ])("%s does the others and exits with the code of the worst", async (_, words, code) => {
    const ids = await project();
    const ran = await ids.cli(...words(ids));
    expect([ran.code, ran.err]).toEqual([code, ran.err]);
    expect(ran.out).not.toBe("");
    const errors = ran.err.split("\n").filter((line) => line.startsWith("haversack: error: "));
    expect(errors).toHaveLength(code === 0 ? 0 : 1);
  });
});

it("--json prints one document: a list, with {id, error} for what failed", async () => {
  const { cli, one, two, story, epic } = await project();
  const deps = (await cli("task", "dep", one, "T99999", two, "--json")).json();
  expect(deps).toEqual([{ id: one }, { id: "T99999", error: expect.stringContaining("T99999") }, { id: two }]);
  const tasks = (await cli("task", "list", story, epic, "--json")).json();
  expect(tasks.map(({ id }: { id: string }) => id)).toContain(two);
  const shown = (await cli("skill", "show", "pdf", "sql", "--json")).json();
  expect(shown.map(({ id }: { id: string }) => id)).toEqual(["pdf", "sql"]);
  const agents = (await cli("agent", "add", "june", "may", "--role", "implementer", "--json")).json();
  expect(agents.map(({ name }: { name: string }) => name)).toEqual(["june", "may"]);
  const third = (await cli("task", "create", "Three", "--depends-on", one, "--json")).json().id;
  await cli("task", "dep", third, "--add", two);
  const failed = (id: string, why: string) => ({ id, error: expect.stringContaining(why) });
  const circle = await cli("task", "dep", one, two, "--add", third, "--json");
  expect(circle).toMatchObject({ code: 1 });
  expect(circle.json()).toEqual([failed(one, "cycle"), failed(two, "cycle")]);
  const removed = await cli("task", "dep", one, "T99999", "--rm", third, "--json");
  expect(removed.json()).toEqual([failed(one, "does not depend on"), failed("T99999", "T99999")]);
  const got = await cli("config", "get", "skills.max_skills", "nosuch", "--json");
  expect(got).toMatchObject({ code: 2 });
  expect(got.json()).toEqual([expect.objectContaining({ key: "skills.max_skills" }), failed("nosuch", "nosuch")]);
  await cli("claim", one, "--agent", "june");
  const beats = await cli("task", "heartbeat", one, "T99999", two, "--agent", "june", "--json");
  expect(beats).toMatchObject({ code: 1 });
  expect(beats.json()).toEqual([
    expect.objectContaining({ id: one, lease_until: expect.any(String) }),
    failed("T99999", "T99999"),
    failed(two, two),
  ]);
  const none = await cli("handoff", "show", one, two, "--json");
  expect(none).toMatchObject({ code: 1 });
  expect(none.json()).toEqual([one, two].map((id) => ({ id, error: expect.stringContaining(id) })));
});

it("shows several handoffs, rules files and settings one after the other, and says a warning once", async () => {
  const { cli, scratch, one, two } = await project();
  for (const id of [one, two]) await cli("handoff", "set", id, "--status", "PASS", "--summary", `Result of ${id}.`);
  const { out } = await cli("handoff", "show", one, two);
  expect(out).toMatch(new RegExp(`Result of ${one}\\.\n\nH\\d+ .*for ${two}\n`));
  const rules = ["a.json", "b.json"].map((name) => rulesFile(scratch, name));
  expect((await cli("rules", "check", ...rules)).out.match(/1 rule read/g)).toHaveLength(2);
  expect((await cli("config", "list", "log.keep", "skills.max_skills")).out.match(/Default:/g)).toHaveLength(2);
  scratch.write(".haversack/config.json", '{"log": {"keep": "x"}}');
  expect((await cli("handoff", "show", one, two)).err.match(/log\.keep/g)).toHaveLength(1);
});

function rulesFile({ root }: Scratch, name: string): string {
  mkdirSync(root, { recursive: true });
  const skills = { pdf: { promptTriggers: { keywords: ["pdf"] } } };
  writeFileSync(join(root, name), JSON.stringify({ version: "1.0", skills }));
  return join(root, name);
}
