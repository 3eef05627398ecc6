/** The texts of `/work` and its agents, and how they are written to a client's folder and removed. */
import { describe, expect, it } from "vitest";
import { readFrontmatter } from "../base/frontmatter.ts";
import { loadCounter } from "../tokens/count.ts";
import { claudeWork } from "./claude-code/places.ts";
import { wireStamped } from "./stamped-file.ts";
import { codexWorkFiles, geminiWorkFiles, opencodeWork, workFiles } from "./work-files.ts";

it("takes the scopes and options of `haversack work` in every client, said in the body: not each shows a hint", () => {
  const texts = {
    "claude-code": readFrontmatter(workFiles("project")[0]?.text ?? "").body,
    plugin: readFrontmatter(workFiles("plugin")[0]?.text ?? "").body,
    codex: readFrontmatter(codexWorkFiles("$work")[0]?.text ?? "").body,
    gemini: geminiWorkFiles()[0]?.text ?? "",
    opencode: JSON.stringify(opencodeWork()),
  };
  for (const [client, text] of Object.entries(texts)) {
    for (const option of ["-n N", "--continue", "--epic", "--story", "--all"]) {
      expect(text, `${client}: ${option}`).toContain(option);
    }
  }
});

describe.each(["project", "plugin"] as const)("as %s", (naming) => {
  const files = workFiles(naming);
  const command = files.find(({ path }) => path === "commands/work.md")?.text ?? "";
  const agents = files.filter(({ path }) => path.startsWith("agents/"));

  it("the command has at most 400 tokens", async () => {
    const count = await loadCounter();
    expect(count(command)).toBeLessThanOrEqual(400);
  });

  it("the command names the four agents as they are called there", () => {
    expect(agents).toHaveLength(4);
    for (const { path } of agents) {
      const name = path.slice("agents/".length, -".md".length);
      expect(command).toContain(naming === "plugin" ? `haversack:${name}` : name);
    }
  });

  it("every agent ends with the handoff and the verdict", () => {
    for (const { text } of agents) {
      expect(text).toMatch(/set_task_handoff \(role: [a-z-]+, [\s\S]*\nVERDICT: PASS\|FAIL\|BLOCKED\n$/);
      expect(text).toMatch(/^---\nname: [a-z-]+\ndescription: .{10,60}\n---\n/);
    }
  });

  it("who fails leaves the task for a fixer, who finds that FAIL; a refused claim is no verdict", () => {
    const text = (role: string) => agents.find(({ path }) => path.endsWith(`${role}.md`))?.text ?? "";
    for (const role of ["implementer", "fixer"]) {
      expect(text(role)).toContain("update_task_status review, whatever the verdict");
      expect(text(role)).toMatch(/Refused: stop, change and store nothing/);
      expect(text(role)).not.toMatch(/Refused[^.]*BLOCKED/);
    }
    expect(text("fixer")).toContain("get_task_handoff with status FAIL and include_details");
    expect(command).toContain("claim refused: leave the task to its holder");
    expect(command).toContain("FAIL, of whomever: update_task_status review, then ");
  });

  it("no text has a prefix of our tools, or a path", () => {
    for (const { text } of files) {
      expect(readFrontmatter(text).body).not.toContain("mcp__");
      expect(text).not.toMatch(/(?:^|[\s"'])\/(?!work)[a-z]/m);
    }
  });
});

const workWiring = (folder: string) => claudeWork(folder).map(wireStamped);

describe("a file of ours", () => {
  const [file] = workWiring("/repo/.claude");
  if (!file) throw new Error("there is no file");
  const ours = file.wire("").text;

  it("is written where none is, stays, and goes whole", () => {
    expect(file.path).toBe("/repo/.claude/commands/work.md");
    expect(file.wire(ours).text).toBe(ours);
    expect(file.unwire(ours, [])).toBe("");
  });

  it("still has frontmatter that can be read", () => {
    expect(readFrontmatter(ours)).toMatchObject({ data: { "disable-model-invocation": true }, problems: [] });
  });

  it("of another version is replaced, when nobody has changed it", () => {
    // Any text with a valid checksum will do: here another file's.
    const older = workWiring("/repo/.claude")[1]?.wire("").text ?? "";
    expect(older).toContain("# haversack");
    expect(file.wire(older).text).toBe(ours);
    expect(file.unwire(older, [])).toBe("");
  });

  it.each([
    ["another's", "---\ndescription: mine\n---\n\nDo my work.\n"],
    ["changed by hand", `${ours}\nAnd be quick.\n`],
    ["changed in its frontmatter", ours.replace("with sub-agents", "with my agents")],
  ])("%s is never touched", (_, text) => {
    expect(file.wire(text).text).toBe(text);
    expect(file.unwire(text, [])).toBe(text);
  });
});
