/** MCP servers and skills in the real client: what passes without a question, what they are told, what is listed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { namespaceCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import { steps } from "../script.ts";
import { codexRepo, echoServer } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { CODE_MODEL, DIRECT_MODEL } from "./run-codex.ts";

const recall = steps([{ tools: [namespaceCall("mcp__echo", "recall", { handle: "h" })] }]);

describe("with nobody to ask", () => {
  it.each([
    [{ readOnlyHint: true }, true],
    [{ destructiveHint: false, openWorldHint: false }, true],
    [{ destructiveHint: false }, false],
    [{}, false],
  ])("a tool with the hints %j runs: %s", async (annotations, runs) => {
    const repo = codexRepo();
    const server = join(repo.base, "echo.cjs");
    const plain = readFileSync(join(import.meta.dirname, "../claude-code/echo-mcp.cjs"), "utf8");
    writeFileSync(
      server,
      plain.replace('name: "recall",', `name: "recall", annotations: ${JSON.stringify(annotations)},`),
    );
    repo.addConfig(echoServer(repo).replace(/"[^"]*echo-mcp\.cjs"/, JSON.stringify(server)));
    const { server: model } = await codexOnce("Go.", recall, { repo, skipApprovals: false });
    const text = model.requests[1]?.toolResults[0]?.text ?? "";
    expect(text.includes("RECALLED h"), text).toBe(runs);
  });

  it("every tool runs when the user allows the server", async () => {
    const repo = codexRepo();
    repo.addConfig(echoServer(repo, 'default_tools_approval_mode = "approve"'));
    const { server } = await codexOnce("Go.", recall, { repo, skipApprovals: false });
    expect(server.requests[1]?.toolResults[0]?.text).toContain("RECALLED h");
  });
});

it("hands few variables to a server, and those that its table names", async () => {
  const repo = codexRepo();
  repo.addConfig(echoServer(repo, 'env_vars = ["HAVERSACK", "NOT_SET"]'));
  await codexOnce("Go.", [], { repo, env: { HAVERSACK: "0", OTHER: "1" } });
  const { env, cwd } = repo.mcp()[0]!.start!;
  expect(Object.keys(env).sort()).toEqual(["HAVERSACK", "HOME", "PATH", "TMPDIR"]);
  expect(cwd).toBe(repo.root);
});

it.each([DIRECT_MODEL, CODE_MODEL])("does not list a server's tools before %s searches for them", async (model) => {
  const repo = codexRepo();
  repo.addConfig(echoServer(repo));
  const { server } = await codexOnce("Go.", [], { repo, model });
  expect(textOf(server.requests[0]!)).not.toContain("Recalls the thing with this handle.");
});

it("lists the skills of .agents/skills with their paths, not those of .claude/skills, and loads one that a prompt names", async () => {
  const repo = codexRepo();
  repo.writeSkill("knots");
  repo.writeSkill("sails", { folder: ".claude/skills" });
  const { server } = await codexOnce("Tie with $knots.", [], { repo });
  const listing = developerTexts(server.requests[0]!).join("\n");
  expect(listing).toMatch(/^- knots: Knows about knots\. \(file: r\d+\/knots\/SKILL\.md\)$/m);
  expect(listing).toContain(`${repo.root}/.agents/skills`);
  expect(listing).not.toContain("sails");
  expect(listing).not.toContain("BODY-OF-knots");
  expect(textOf(server.requests[0]!)).toContain("BODY-OF-knots");
});
