/** Invalid input: one line that names the field and the remedy, the right exit code, and no change. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { type RunOptions, type Scratch, scratchProject } from "./bins.ts";

describe("bad input", () => {
  it.each<[what: string, words: (task: string) => string[], code: number, line: RegExp]>([
    ["an unknown id", () => ["task", "show", "T000000000001"], 1, /there is no task "T000000000001"/],
    [
      "nearly an id",
      (task) => ["task", "done", mistyped(task)],
      1,
      /there is no task "T\d+"\nhaversack: hint: did you mean T\d{4,12}\?/,
    ],
    ["a story for a task", () => ["task", "done", "SX9"], 1, /there is no task "SX9"/],
    ["an unknown story", () => ["task", "create", "T", "--story", "SX9"], 1, /there is no story "SX9"/],
    ["an unknown epic", () => ["story", "create", "S", "--epic", "nope"], 1, /there is no epic "nope"/],
    ["an unknown dependency", () => ["task", "create", "T", "--depends-on", "TX9"], 1, /there is no task "TX9"/],
    ["an unknown parent", () => ["task", "create", "T", "--parent", "TX9"], 1, /there is no task "TX9"/],
    ["a handoff for nobody", () => ["handoff", "set", "TX9", "--status", "PASS", "--summary", "x"], 1, /no task "TX9"/],
    ["WIP for nobody", () => ["wip", "TX9", "{}"], 1, /there is no task "TX9"/],
    ["an empty id", () => ["task", "done", ""], 1, /there is no task ""/],
    ["a dependency on itself", (task) => ["task", "dep", task, "--add", task], 1, /cycle/],
    [
      "a wrong type",
      () => ["task", "create", "T", "--type", "bugg"],
      2,
      /--type must be one of feature, bug, .*\nhaversack: hint: did you mean bug\?/,
    ],
    [
      "a wrong priority",
      () => ["epic", "create", "E", "--priority", "P4"],
      2,
      /--priority must be one of P0, P1, P2, P3/,
    ],
    ["a wrong status", () => ["task", "list", "--status", "doing"], 2, /--status must be one of todo, in_progress/],
    [
      "a wrong verdict",
      (task) => ["handoff", "set", task, "--status", "OK", "--summary", "x"],
      2,
      /--status must be one of PASS, FAIL, BLOCKED/,
    ],
    [
      "no verdict",
      (task) => ["handoff", "set", task, "--summary", "x"],
      2,
      /handoff set needs --status: PASS, FAIL or BLOCKED/,
    ],
    ["no summary", (task) => ["handoff", "set", task, "--status", "PASS"], 2, /handoff set needs --summary/],
    [
      "an empty summary",
      (task) => ["handoff", "set", task, "--status", "PASS", "--summary", " "],
      2,
      /summary must not be empty/,
    ],
    [
      "a file that is not there",
      (task) => ["handoff", "set", task, "--status", "PASS", "--summary", "x", "--details", "no.txt"],
      1,
      /there is no file no\.txt\n/,
    ],
    [
      "a wrong dependency type",
      (task) => ["task", "dep", task, "--add", task, "--type", "needs"],
      2,
      /--type must be one of blocks, requires, relates_to/,
    ],
    [
      "a negative limit",
      () => ["task", "list", "--limit", "-1"],
      2,
      /--limit must be a whole number of at least 1, but is "-1"/,
    ],
    [
      "a limit of nothing",
      () => ["next", "--limit", "0"],
      2,
      /--limit must be a whole number of at least 1, but is "0"/,
    ],
    ["a negative offset", () => ["task", "list", "--offset", "-5"], 2, /--offset must be a whole number of at least 0/],
    [
      "a negative estimate",
      () => ["task", "create", "T", "--estimate", "-2"],
      2,
      /--estimate must be a number of at least 0/,
    ],
    [
      "a lease of nothing",
      (task) => ["claim", task, "--lease", "0"],
      2,
      /--lease must be a whole number of at least 1/,
    ],
    ["a title of two lines", () => ["task", "create", "one\ntwo"], 2, /title must be one line/],
    ["an empty title", () => ["task", "create", "  "], 2, /title must not be empty/],
    ["a title without end", () => ["story", "create", "x".repeat(5000)], 2, /title has 5000 characters/],
    [
      "a title update of two lines",
      (task) => ["task", "update", task, "--title", "one\r\ntwo"],
      2,
      /title must be one line/,
    ],
    ["WIP that is a list", (task) => ["wip", task, "[1]"], 2, /WIP must be a JSON object such as .*, but is a list/],
    ["WIP that is text", (task) => ["wip", task, '"x"'], 2, /WIP must be a JSON object such as .*, but is a string/],
    ["WIP that is null", (task) => ["wip", task, "null"], 2, /WIP must be a JSON object such as .*, but is null/],
    ["WIP that is no JSON", (task) => ["wip", task, "{phase: 1}"], 2, /WIP must be a JSON object: line 1:2/],
    [
      "a field that cannot be cleared",
      (task) => ["task", "update", task, "--clear", "status"],
      2,
      /--clear must be one of story, parent/,
    ],
    ["an empty dependency", (task) => ["task", "dep", task, "--add", ""], 2, /--add must not be empty: name a task/],
    ["an unknown story for a claim", (task) => ["claim", task, "--story", "SX9"], 1, /there is no story "SX9"/],
    ["an unknown epic for a claim", (task) => ["claim", task, "--epic", "EX9"], 1, /there is no epic "EX9"/],
    [
      "an agent's name with other signs",
      (task) => ["claim", task, "--agent", "bad name!"],
      2,
      /--agent must be letters, digits, .*, but is "bad name!"/,
    ],
    [
      "an agent with the name of the system",
      () => ["agent", "add", "haversack", "--role", "implementer"],
      2,
      /name must not be "haversack": Haversack's own messages have it/,
    ],
    [
      "an empty value in a list of settings",
      () => ["config", "set", "skills.folders", ""],
      2,
      /skills\.folders must not contain an empty value\nhaversack: hint: `haversack config set skills\.folders '\[\]'`/,
    ],
    ["an empty reason", (task) => ["task", "block", task, ""], 2, /reason must not be empty/],
    [
      "two stdin texts",
      () => ["task", "create", "T", "--description", "-", "--criteria", "-"],
      2,
      /only one text can come from standard input/,
    ],
  ])("%s", (_, words, code, line) => {
    const { project, task } = oneTask();
    const before = everything(project);
    const ran = project.haversack(words(task), { stdin: "text" });
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toMatch(line);
    expect(ran.err).not.toContain("internal fault");
    expect(everything(project)).toEqual(before);
  });

  it("a claim of a task that is not in the named story is refused", () => {
    const { project, task } = oneTask();
    const story = project.haversack(["story", "create", "S", "--json"]).json().id;
    const refused = project.haversack(["claim", task, "--story", story]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`${task} is not in story ${story}\n`);
    expect(statusOf(project, task)).toBe("todo");
    project.haversack(["task", "update", task, "--story", story]);
    expect(project.haversack(["claim", task, "--story", story]).code).toBe(0);
  });

  it.each([
    ["list", "task list"],
    ["tasks", "task"],
  ])("%s is no command, but %s is", (typed, meant) => {
    const { code, err } = scratchProject().haversack([typed, "T1"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `haversack: error: unknown command "${typed}"\nhaversack: hint: did you mean \`haversack ${meant}\`?\n`,
    });
  });

  it("takes a unique prefix of an id, of three digits and more, with a small letter too", () => {
    const { project, task } = oneTask();
    for (const given of [task, task.toLowerCase(), task.slice(0, 4), task.slice(0, 4).toLowerCase()]) {
      expect(project.haversack(["task", "show", given, "--json"]).json().id).toBe(task);
    }
    const ran = project.haversack(["task", "done", task.slice(0, 3)]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain(`there is no task "${task.slice(0, 3)}"`);
    expect(project.haversack(["task", "show", task, "--json"]).json().status).toBe("todo");
  });

  it("keeps emoji and quotes, and prints nothing that a terminal would obey", () => {
    const { project } = oneTask();
    const made = project.haversack(["task", "create", "🔑 schlüssel 日本 'x' \"y\"", "--json"]).json();
    expect(made.title).toBe("🔑 schlüssel 日本 'x' \"y\"");
    project.haversack(["task", "create", "evil \u001b[31mred\u0007", "--description", "a\u001b]0;title\u0007b"]);
    project.haversack(["task", "block", made.id, "why \u001b[2J"]);
    for (const words of [
      ["task", "list"],
      ["status"],
      ["task", "list", "--tree"],
      ["task", "log"],
      ["task", "show", made.id],
    ]) {
      expect(project.haversack(words).out).not.toContain("\u001b");
    }
  });

  it("takes 10 MB of details and refuses 10 MB of a summary", () => {
    const { project, task } = oneTask();
    const stdin = "x".repeat(10_000_000);
    const words = ["handoff", "set", task, "--status", "PASS"];
    expect(project.haversack([...words, "--summary", "ok", "--details", "-"], { stdin }).code).toBe(0);
    const refused = project.haversack([...words, "--summary", "-"], { stdin });
    expect(refused.code).toBe(2);
    expect(refused.err.length).toBeLessThan(300);
    expect(refused.err).toContain("summary has 10000000 characters");
    expect(project.haversack(["handoff", "list", "--json"]).json()).toHaveLength(1);
  });
});

describe("two stores at once", () => {
  it("projects side by side know nothing of each other", () => {
    const [here, there] = [oneTask(), oneTask()];
    const ran = there.project.haversack(["task", "done", here.task]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`there is no task "${here.task}"`);
    expect(there.project.haversack(["task", "dep", there.task, "--add", here.task]).code).toBe(1);
    expect(statusOf(here.project, here.task)).toBe("todo");
    expect(statusOf(there.project, there.task)).toBe("todo");
  });

  it("a project inside a project has its own, and a folder of a project does not", () => {
    const { project: outer, task } = oneTask();
    const inner = join(outer.root, "packages/inner");
    const folder = join(outer.root, "src/deep");
    mkdirSync(join(inner, ".haversack"), { recursive: true });
    mkdirSync(folder, { recursive: true });
    expect(outer.haversack(["task", "list", "--json"], { cwd: folder }).json()).toHaveLength(1);
    expect(outer.haversack(["task", "list", "--json"], { cwd: inner }).json()).toEqual([]);
    expect(outer.haversack(["task", "done", task], { cwd: inner }).code).toBe(1);
    const made = outer.haversack(["task", "create", "Inner", "--json"], { cwd: inner }).json();
    expect(statusOf(outer, made.id, { cwd: inner })).toBe("todo");
    expect(outer.haversack(["task", "show", made.id]).code).toBe(1);
    expect(statusOf(outer, task)).toBe("todo");
  });
});

/** Changes the last digit. */
function mistyped(id: string): string {
  return `${id.slice(0, -1)}${(Number(id.at(-1)) + 1) % 10}`;
}

function oneTask(): { project: Scratch; task: string } {
  const project = scratchProject();
  return { project, task: project.haversack(["task", "create", "The one", "--json"]).json().id };
}

function statusOf(project: Scratch, id: string, options?: RunOptions): string {
  return project.haversack(["task", "show", id, "--json"], options).json().status;
}

/** Every row of the store. */
function everything({ root }: Scratch): unknown {
  const db = new DatabaseSync(join(root, ".haversack/haversack.db"), { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%fts%'").all();
    return tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]);
  } finally {
    db.close();
  }
}
