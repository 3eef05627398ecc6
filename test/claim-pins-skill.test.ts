/** A claim stores the task's skill as it is on disk at that moment, even if no command has indexed it before. */
import { describe, expect, it } from "vitest";
import { scratchProject } from "./bins.ts";
import { startServer } from "./mcp-client.ts";

const SKILL = ".claude/skills/rate-limits/SKILL.md";
const text = (body: string) =>
  `---\nname: rate-limits\ndescription: Limits how often a call may be made.\n---\n\n${body}\n`;

describe("a skill that was never indexed", () => {
  it("is kept by a claim at the command line", () => {
    const project = scratchProject();
    const { id } = JSON.parse(
      project.haversack(["task", "create", "Limit logins", "--skill", "rate-limits", "--json"]).out,
    );
    project.write(SKILL, text("FIRST VERSION"));
    expect(project.haversack(["claim", id, "--agent", "june"])).toMatchObject({ code: 0 });
    project.write(SKILL, text("SECOND VERSION, which is longer"));
    const packet = project.haversack(["wake", "june"]).out;
    expect(packet).toContain("FIRST VERSION");
    expect(packet).not.toContain("SECOND VERSION");
    expect(packet).toMatch(/rate-limits[^\n]*changed/i);
  });

  it("is kept by a claim through the MCP server, in a nested folder too", async () => {
    const project = scratchProject();
    const { id } = JSON.parse(
      project.haversack(["task", "create", "Limit logins", "--skill", "rate-limits", "--json"]).out,
    );
    const nested = ".claude/skills/group/rate-limits/SKILL.md";
    project.write(".claude/skills/group/other/SKILL.md", text("OTHER").replaceAll("rate-limits", "other"));
    project.haversack(["skill", "index"]);
    project.write(nested, text("FIRST VERSION"));
    const server = await startServer(project, { env: { HAVERSACK_AGENT: "june" } });
    expect(await server.call("update_task_status", { task_id: id, status: "in_progress" })).toMatchObject({
      isError: false,
    });
    project.write(nested, text("SECOND VERSION, which is longer"));
    const packet = project.haversack(["wake", "june"]).out;
    expect(packet).toContain("FIRST VERSION");
    expect(packet).not.toContain("SECOND VERSION");
  });
});
