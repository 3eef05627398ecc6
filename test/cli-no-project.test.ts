/** Commands without a project: reading creates nothing, and saving asks for `haversack init` first. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ran, type Scratch, scratchProject } from "./bins.ts";
import { startServer } from "./mcp-client.ts";
import { run as runIn } from "./skills-run.ts";

/** All read-only commands, with the arguments they need to get as far as the store. */
const LOOKING = [
  "status",
  "next",
  "next --batch",
  "task list --tree",
  "task list",
  "task show T1abc",
  "story list",
  "story show S1abc",
  "epic list",
  "epic show E1abc",
  "task dep T1abc",
  "wip",
  "wip T1abc",
  "handoff list",
  "handoff show T1abc",
  "task log",
  "export",
  "import - --dry-run",
  "wake june",
  "agent prompt june hello --print",
  "agent inbox june",
  "agent list",
  "agent show june",
  "workflow list",
  "workflow add development --dry-run",
  "review receipts",
  "why",
  "context",
  "skill list",
  "skill show nothing",
  "skill search errors",
  "skill check",
  "skill stats",
  "skill undefer --all",
  "session list",
  "session reset s1",
  "usage",
  "config",
  "log",
  "on",
  "store check",
  "doctor",
];

const SAVING = [
  "task create x",
  "epic create x",
  "claim",
  "agent add june --role implementer",
  "agent message @june hello",
  "skill index",
  "workflow add development",
  "artifacts init",
  "skill new own --in .haversack/skills",
  "off",
];

function folderOf({ root }: Scratch, name: string): string {
  const folder = join(root, "..", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function run(project: Scratch, cwd: string, line: string): Promise<Ran> {
  return runIn(project, line.split(" "), {
    cwd,
    stdin: "{}",
    env: { CLAUDE_CONFIG_DIR: join(project.home, ".claude") },
  });
}

describe("outside of a project", () => {
  it.each(LOOKING)("%s makes nothing", async (line) => {
    const project = scratchProject();
    const cwd = folderOf(project, "plain");
    const { code, err } = await run(project, cwd, line);
    expect(err).not.toContain("internal fault");
    expect(code, err).toBeLessThan(2);
    expect(readdirSync(cwd)).toEqual([]);
    await run(project, project.root, line);
    expect(readdirSync(project.root), "in a repository").toEqual([".git"]);
  });

  it.each(["status", "next", "skill list", "usage", "wake june"])(
    "%s says in one line that there is none",
    async (line) => {
      const project = scratchProject();
      const cwd = folderOf(project, "plain");
      const note = `haversack: note: there is no project in ${cwd}: no git repository and no .haversack/ (\`haversack init\` makes one here, with --bare without a client)\n`;
      expect((await run(project, cwd, line)).err.split(note)).toHaveLength(2);
      expect((await run(project, project.root, line)).err).not.toContain("note: there is no project");
    },
  );

  it.each(SAVING)("%s is refused with the way to make one, and makes one in a repository", async (line) => {
    const project = scratchProject();
    const cwd = folderOf(project, "plain");
    const { code, out, err } = await run(project, cwd, line);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      line === "off" ? /no project in [\s\S]*`haversack off --user`/ : /no project in [\s\S]*`haversack init`/,
    );
    expect(readdirSync(cwd)).toEqual([]);
    await run(project, project.root, line);
    expect(readdirSync(project.root)).toContain(".haversack");
  });

  it.each(["task create x", "status", "discover fix", "init --bare"])(
    "%s makes nothing in the home folder, even if it is a repository",
    async (line) => {
      const project = scratchProject();
      mkdirSync(join(project.home, ".git"));
      const { err } = await run(project, project.home, line);
      expect(err).toContain(`${project.home} is your home folder, not a project`);
      expect(readdirSync(project.home)).toEqual([".git"]);
    },
  );

  it("init --user makes nothing but settings in the home folder, also of one that is a repository", async () => {
    const project = scratchProject();
    mkdirSync(join(project.home, ".git"));
    expect((await run(project, project.home, "init --user --yes --client claude-code")).code).toBe(0);
    expect(readdirSync(project.home)).toContain(".claude");
    expect(readdirSync(project.home)).not.toContain(".haversack");
  });

  it("init --bare makes one, and from then on it holds what is saved", async () => {
    const project = scratchProject();
    const cwd = folderOf(project, "plain");
    expect((await run(project, cwd, "init")).err).toContain("--bare sets up a project without one");
    expect(existsSync(join(cwd, ".haversack"))).toBe(false);
    expect(await run(project, cwd, "init --bare")).toMatchObject({ code: 0, out: `Made ${cwd}/.haversack.\n` });
    expect((await run(project, cwd, "init --bare")).out).toContain("already exists");
    expect((await run(project, cwd, "init --bare --user")).err).toContain("--bare and --user cannot be used together");
    await run(project, cwd, "task create Kept");
    expect((await run(project, cwd, "task list")).out).toContain("Kept");
  });

  it("discover answers from memory, and remembers in a repository", async () => {
    const project = scratchProject();
    project.write(
      "../plain/.claude/skills/pdf-forms/SKILL.md",
      "---\nname: pdf-forms\ndescription: Fills in PDF forms.\n---\n\nx\n",
    );
    const cwd = folderOf(project, "plain");
    const line = "discover fill in the PDF forms";
    expect((await run(project, cwd, line)).out).toContain("Fills in PDF forms");
    expect((await run(project, cwd, line)).out).toContain("Fills in PDF forms");
    expect(existsSync(join(cwd, ".haversack"))).toBe(false);
    await run(project, project.root, line);
    expect((await run(project, project.root, "why")).out).toContain('"fill in the PDF forms"');
  });

  it("the MCP server reads nothing, and says what to do before it saves", async () => {
    const project = scratchProject();
    const cwd = folderOf(project, "plain");
    const server = await startServer(project, { cwd });
    expect((await server.call("get_tasks", {})).text).toBe("no tasks");
    const refused = await server.call("create_task", { title: "x" });
    expect(refused.text).toContain("`haversack init` makes one here");
    expect(readdirSync(cwd)).toEqual([]);
  });
});
