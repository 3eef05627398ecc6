import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isFault } from "../../base/errors.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import type { Command, ExitCode } from "../command.ts";
import { parseCall } from "../parse.ts";
import { commands } from "./import-export.ts";

const { import: importCommand, export: exportCommand } = commands;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-move-"));
  project("one");
  project("two");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function project(name: string): void {
  mkdirSync(join(folder, name, ".git"), { recursive: true });
}

interface Ran {
  code: ExitCode | "usage" | "fault";
  out: string;
  text: string;
}

async function run(command: Command, where: string, words: string[], stdin = ""): Promise<Ran> {
  const parsed = parseCall(words, command.spec);
  if (parsed.kind !== "call") return { code: "usage", out: "", text: parsed.kind === "usage" ? parsed.text : "help" };
  let out = "";
  let text = "";
  try {
    const code = await command.run({
      ...parsed,
      name: "import",
      io: {
        env: { HOME: folder, USER: "ann" },
        cwd: join(folder, where),
        isTerminal: false,
        isColour: false,
        out: (more) => {
          out += more;
        },
        err: (more) => {
          text += more;
        },
        readStdin: async () => stdin,
      },
    });
    return { code, out, text };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { code: ["usage", "input-invalid"].includes(error.code) ? "usage" : "fault", out, text: error.message };
  }
}

const PLAN =
  "# Lantern\n\n### Task 1: Sensor\n**Files:** `src/a.ts`\n- [ ] Build\n\n### Task 2: Switch\nDepends on: Task 1\n";

function writePlan(where = "one", text = PLAN): void {
  writeFileSync(join(folder, where, "plan.md"), text);
}

describe("import plan", () => {
  it("creates, then changes nothing, then updates; and keeps the file relative to the root", async () => {
    writePlan();
    mkdirSync(join(folder, "one", "docs"));
    const first = await run(importCommand, join("one", "docs"), ["../plan.md", "--json"]);
    expect(first.code).toBe(0);
    const created = JSON.parse(first.out);
    expect(created).toMatchObject({
      story: { title: "Lantern", is_new: true },
      created: [{ number: "1", title: "Sensor" }, { number: "2" }],
    });
    expect(created).not.toHaveProperty("problems");
    expect((await run(importCommand, "one", ["plan.md"])).out).toMatch(/^Story Lantern \(S\d+\)\n2 unchanged\.\n$/);
    writePlan("one", PLAN.replace("Switch", "Button"));
    expect((await run(importCommand, "one", ["plan.md"])).out).toMatch(
      /Updated:\n {2}T\d+ {2}Task 2: Button: title, plan_section\n/,
    );
    const lines = (await run(exportCommand, "one", [])).out;
    expect(lines).toContain('"plan_file":"plan.md","plan_section":"Task 1: Sensor"');
  });

  it("writes nothing in a dry run and shows no made-up id", async () => {
    writePlan();
    const { code, out } = await run(importCommand, "one", ["plan.md", "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toContain("Would create:\n  Task 1: Sensor");
    expect(out).not.toMatch(/[TS]\d{4,12}/);
    expect((await run(importCommand, "one", ["plan.md", "--dry-run", "--json"])).out).not.toMatch(/"id"/);
    expect((await run(exportCommand, "one", [])).out).toBe('{"haversack":"work","version":1}\n');
  });

  it("exits 1 for a plan without tasks and for problems, 2 for wrong usage", async () => {
    writePlan("one", "# Nothing\n");
    expect(await run(importCommand, "one", ["plan.md"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("no task was found"),
    });
    writePlan("one", `${PLAN}Depends on: Task 7\n`);
    expect((await run(importCommand, "one", ["plan.md"])).code).toBe(1);
    expect((await run(importCommand, "one", ["missing.md"])).text).toContain("there is no file missing.md");
    expect((await run(importCommand, "one", ["-", "--from", "plan"])).code).toBe("usage");
    expect((await run(importCommand, "one", [])).text).toContain("FILE is missing");
    expect((await run(importCommand, "one", ["plan.md", "--story", "S1", "--epic", "E1"])).code).toBe("usage");
    expect((await run(importCommand, "one", ["work.jsonl", "--sequential"])).text).toContain(
      "--sequential is for plans",
    );
  });
});

describe("export and import jsonl", () => {
  it("moves everything to another project, byte for byte, and adds nothing the second time", async () => {
    writePlan();
    await run(importCommand, "one", ["plan.md"]);
    const file = join(folder, "work.jsonl");
    const saved = JSON.parse((await run(exportCommand, "one", [file, "--json"])).out);
    const text = readFileSync(file, "utf8");
    expect(saved).toEqual({
      file,
      records: text.trimEnd().split("\n").length - 1,
      size_bytes: Buffer.byteLength(text),
    });

    const dry = await run(importCommand, "two", [file, "--dry-run"]);
    expect(dry.out).toContain("Would add 1 story, 2 tasks, 1 dependency");
    expect((await run(exportCommand, "two", [])).out).toBe('{"haversack":"work","version":1}\n');
    const { code, out } = await run(importCommand, "two", [file]);
    expect([code, out]).toEqual([0, expect.stringContaining("Added 1 story, 2 tasks, 1 dependency")]);
    expect((await run(exportCommand, "two", [])).out).toBe(text);
    const again = JSON.parse((await run(importCommand, "two", ["-", "--json"], text)).out);
    expect(again).toEqual({ same: saved.records });
  });

  it("leaves activity out when asked to, and refuses --json without a file", async () => {
    writePlan();
    await run(importCommand, "one", ["plan.md"]);
    expect((await run(exportCommand, "one", [])).out).toContain('"kind":"activity"');
    expect((await run(exportCommand, "one", ["--no-activity"])).out).not.toContain('"kind":"activity"');
    expect((await run(exportCommand, "one", ["--json"])).code).toBe("usage");
  });

  it("reports broken lines with their number, takes the rest and exits 1", async () => {
    const at = "2026-11-16T09:30:00.000Z";
    const good = JSON.stringify({
      kind: "task",
      id: "T1",
      title: "T",
      type: "bug",
      status: "todo",
      priority: "P1",
      created_at: at,
      updated_at: at,
    });
    const { code, out } = await run(
      importCommand,
      "one",
      ["-"],
      `${good}\n{"kind":"task"\n${good.replace("todo", "later")}\n`,
    );
    expect(code).toBe(1);
    expect(out).toContain("Added 1 task.");
    expect(out).toContain("2 problems:");
    expect(out).toContain("line 2: is not JSON");
    expect(out).toContain("line 3 (task T1): status must be one of");
    const json = JSON.parse((await run(importCommand, "one", ["-", "--json"], "[]")).out);
    expect(json.problems).toEqual([{ where: "line 1", text: "a record must be an object" }]);
  });

  it("leaves a file as it was when it cannot be replaced", async () => {
    expect((await run(exportCommand, "one", [join(folder, "no", "such", "folder.jsonl")])).code).toBe("fault");
  });
});

describe("import ohno", () => {
  it("imports from the folder it is called in and says what was left", async () => {
    mkdirSync(join(folder, "one", ".ohno"));
    const db = new sqlite.DatabaseSync(join(folder, "one", ".ohno", "tasks.db"));
    db.exec(
      "CREATE TABLE tasks (id, title, status, actual_hours); INSERT INTO tasks VALUES ('task-1', 'T', 'todo', 3)",
    );
    db.close();
    const dry = await run(importCommand, "one", ["--dry-run", "--from", "ohno"]);
    expect(dry.out).toContain("Would add 1 task.");
    const { code, out } = await run(importCommand, "one", ["--from", "ohno"]);
    expect(code).toBe(0);
    expect(out).toContain("Added 1 task.");
    expect(out).toContain("Not carried over:\n  tasks.actual_hours, 1 value: has no place here");
    expect(JSON.parse((await run(importCommand, "one", [".ohno", "--json", "--from", "ohno"])).out)).toMatchObject({
      same: 1,
      left: [{ count: 1 }],
    });
  });

  it("says where it looked", async () => {
    expect(await run(importCommand, "one", ["--from", "ohno"])).toMatchObject({
      code: "fault",
      text: expect.stringContaining("no .ohno/tasks.db"),
    });
  });
});

describe("import of another tool's project", () => {
  function put(path: string, text: string): void {
    mkdirSync(join(folder, "one", path, ".."), { recursive: true });
    writeFileSync(join(folder, "one", path), text);
  }

  it("detects the tool of a folder and of a file, and leaves known tasks without a time alone", async () => {
    put(".taskmaster/tasks/tasks.json", '{"tasks":[{"id":1,"title":"t"}]}');
    const { code, out } = await run(importCommand, "one", ["."]);
    expect([code, out]).toEqual([0, expect.stringContaining("Added 1 story, 1 task.")]);
    const again = await run(importCommand, "one", [".taskmaster/tasks/tasks.json"]);
    expect(again.out).toContain(
      "Nothing new.\nUnchanged here, because the file does not say when they were changed:\n  tm-tasks\n  tm-1",
    );
    put("list.json", '[{"number":1,"title":"t","state":"OPEN"}]');
    expect((await run(importCommand, "one", ["list.json", "--json"])).out).toContain('"task":1');
  });

  it("asks if a folder is of several tools, or of none", async () => {
    put("none/a.json", "{}");
    expect((await run(importCommand, "one", ["none"])).text).toBe(
      "no work of ohno, beads, task-master, backlog, github found in none",
    );
    expect((await run(importCommand, "one", ["none/."])).text).toMatch(/ found in \/.*\/none$/);
    expect((await run(importCommand, "one", ["none/a.json"])).text).toContain("neither task-master's nor");
    put(".beads/issues.jsonl", '{"id":"bd-1","title":"t"}');
    put("backlog/tasks/a.md", "---\nid: TASK-1\ntitle: t\n---\n");
    expect((await run(importCommand, "one", ["."])).text).toBe(". has work of several tools: name one");
  });
});
