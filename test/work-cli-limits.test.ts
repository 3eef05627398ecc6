/** What commands leave out, and that the command they suggest really shows more. */
import { describe, expect, it } from "vitest";
import { type Ran, scratchProject } from "./bins.ts";

describe("hints work when they are followed", () => {
  it.each([
    ["next", ["next", "--max-tokens", "60"]],
    ["next with room for none", ["next", "--max-tokens", "20"]],
    ["next in full", ["next", "--fields", "full", "--max-tokens", "60"]],
    ["next as a batch", ["next", "--batch", "--limit", "3", "--max-tokens", "20"]],
    ["task list with room for none", ["task", "list", "--max-tokens", "20"]],
    ["task list in full", ["task", "list", "--fields", "full", "--max-tokens", "20"]],
  ])("%s", (_, words) => {
    const project = workProject();
    for (const title of ["A", "B", "C", "D"]) project.json("task", "create", title);
    const few = project.run(...words, "--json");
    expect(few.json().length).toBeLessThan(3);
    const again = project.run(...hinted(few.err));
    expect(again.json().length).toBeGreaterThan(few.json().length);
    expect(again.json().length).toBeGreaterThanOrEqual(3);
    expect(project.run(...words).out).toContain("shows more.");
  });

  it("of a tree: how many rows there are, and all of them", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "E").id;
    const story = project.json("story", "create", "S", "--epic", epic).id;
    const loose = project.json("story", "create", "Loose").id;
    for (const words of [["--story", story], ["--story", story], ["--story", loose], []])
      project.json("task", "create", "T", ...words);
    const done = project.json("task", "create", "Done", "--story", story).id;
    project.json("task", "done", done);
    const few = project.run("task", "list", "--tree", "--limit", "2", "--json");
    expect(few.err).toBe("haversack: note: 2 of 7 rows; `haversack task list --tree --limit 7 --json` shows all\n");
    expect(project.run(...hinted(few.err))).toMatchObject({ err: "" });
    expect(project.run("task", "list", "--tree", "--limit", "1", "--all").out).toContain("1 of 8 rows;");
    expect(project.run("task", "list", "--tree", epic, "--limit", "1").out).toContain("1 of 4 rows;");
    expect(project.run("task", "list", "--tree", story, "--limit", "1", "--all").out).toContain("1 of 4 rows;");
  });

  it("a tree refuses the options that it cannot follow, and a list refuses --all", () => {
    const project = workProject();
    const epic = project.json("epic", "create", "E").id;
    project.json("task", "create", "Open");
    const filters = ["--status=done", "--find=x", "--priority=P1", "--assignee=ann", "--offset=1", "--max-tokens=99"];
    for (const filter of [...filters, "--wip", "--type=bug", "--fields=full"]) {
      const [name] = filter.split("=");
      expect(project.haversack(["task", "list", "--tree", filter])).toMatchObject({
        code: 2,
        out: "",
        err: `haversack: error: --tree and ${name} cannot be used together\nhaversack: hint: leave out --tree: a list takes ${name}\n`,
      });
    }
    expect(project.haversack(["task", "list", "--all"])).toMatchObject({
      code: 2,
      out: "",
      err: "haversack: error: --all needs --tree\nhaversack: hint: without --tree, done tasks are listed anyway\n",
    });
    for (const option of [["--all"], ["--limit", "9"], ["--epic", epic], ["--json"]])
      expect(project.haversack(["task", "list", "--tree", ...option])).toMatchObject({ code: 0, err: "" });
  });

  it("of dependencies, and of a task that many wait for", () => {
    const project = workProject();
    const hub = project.json("task", "create", "Hub").id;
    for (let number = 0; number < 12; number++) project.json("task", "create", `T${number}`, "--depends-on", hub);
    const few = project.run("task", "dep", hub, "--limit", "5", "--json");
    expect(few.json().needed_by).toHaveLength(5);
    expect(few.err).toContain("7 left out; ");
    expect(project.run(...hinted(few.err)).json().needed_by).toHaveLength(12);
    expect(project.run("task", "show", hub).out).toContain(`and 2 more (\`haversack task dep ${hub}\`)`);
  });
});

describe("next", () => {
  it("gives no task that touches what is in progress, and says which is in the way", () => {
    const project = workProject();
    const running = project.json("task", "create", "Running", "--files", "src/a.ts").id;
    const same = project.json("task", "create", "Same", "--files", "src/*.ts").id;
    project.json("claim", running, "--agent", "bob");
    const { out } = project.run("next", "--batch");
    expect(out).toBe(`0 of 1 ready. ${same} is ready, but touches src/*.ts, as does ${running} (in progress).\n`);
    expect(project.json("next", "--batch")).toEqual([]);
    expect(project.json("next")).toHaveLength(1);
  });

  it("has score and batch for scripts that ask for more, and for people only a batch of its own", () => {
    const project = workProject();
    for (const title of ["A", "B"]) project.json("task", "create", title, "--files", "src/a.ts");
    expect(project.json("next", "--fields", "standard")).toMatchObject([
      { title: "A", score: expect.any(Number), batch_group: 1 },
      { title: "B", score: expect.any(Number), batch_group: 2 },
    ]);
    expect(Object.keys(project.json("next")[0])).toEqual(["id", "title", "status"]);
    const [first, second] = project.run("next").out.split("\n");
    expect(first).not.toContain("batch");
    expect(second).toContain("batch 2");
  });
});

describe("handoffs", () => {
  it("show the latest of a verdict, what is in the archive, and where the details end", () => {
    const project = workProject();
    const story = project.json("story", "create", "S").id;
    const task = project.json("task", "create", "A", "--story", story).id;
    const set = (status: string, role: string) =>
      project.run("handoff", "set", task, "--status", status, "--summary", `${status} it is`, "--role", role);
    set("FAIL", "quality-reviewer");
    set("PASS", "spec-reviewer");
    expect(project.json("handoff", "show", task)).toMatchObject({ task_id: task, status: "PASS" });
    expect(project.json("handoff", "show", task, "--status", "FAIL")).toMatchObject({ role: "quality-reviewer" });
    expect(project.haversack(["handoff", "show", task, "--status", "BLOCKED"])).toMatchObject({ code: 1, out: "" });
    project.haversack(["handoff", "set", task, "--status", "PASS", "--summary", "s", "--details", "-"], {
      stdin: "all of it",
    });
    const end = project.run("handoff", "show", task, "--from", "900");
    expect(end.err).toContain("the details end at character 9");
    project.json("task", "done", task);
    const put = project.run("handoff", "show", task, "--details");
    expect(put.out).not.toContain("all of it");
    const id = /^H\d+/.exec(put.out)?.[0] ?? "";
    expect(put.err).toContain(`the details are in the archive; \`haversack handoff restore ${id}\` brings it back`);
    project.run("handoff", "restore", id);
    expect(project.run("handoff", "show", task, "--details").out).toContain("all of it");
    expect(project.run("handoff", "set", "--help").out).toContain("never replaced");
  });
});

describe("small words", () => {
  it("are true", () => {
    const project = workProject();
    expect(project.run("task", "log").out).toBe("Nothing has happened yet.\n");
    const [a, b] = ["A", "B"].map((title) => project.json("task", "create", title).id);
    expect(project.run("task", "log", "--kind", "nonsense").out).toBe("Nothing of kind nonsense has happened.\n");
    project.run("task", "dep", a, "--add", b, "--type", "requires");
    expect(project.run("task", "dep", a, "--add", b, "--type", "relates_to").out).toBe(
      `${a} no longer waits for ${b}: it was requires, and relates_to does not block.\n`,
    );
    for (const id of [a, b]) project.run("task", "block", id, "no key");
    expect(project.json("status").tasks).toEqual({ blocked: 2, ready: 0 });
    expect(project.run("task", "block", a, "no server").out).toBe(`${a} is blocked by one more reason, 2 in all: A\n`);
    expect(project.json("task", "show", a).blockers).toEqual(["no key", "no server"]);
  });
});

/** The arguments of the command that a text suggests. */
function hinted(text: string): string[] {
  const [, words] = /`haversack ([^`]+)`/.exec(text) ?? [];
  if (words === undefined) throw new Error(`no command in: ${text}`);
  return words.split(" ");
}

function workProject() {
  const project = scratchProject();
  const run = (...words: string[]): Ran => {
    const ran = project.haversack(words);
    if (ran.code !== 0) throw new Error(`${words.join(" ")}: exit ${ran.code}: ${ran.err}`);
    return ran;
  };
  return { ...project, run, json: (...words: string[]) => run(...words, "--json").json() };
}
