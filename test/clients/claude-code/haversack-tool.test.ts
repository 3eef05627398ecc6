/** The `skill` tool of our MCP server in the real client, for listed and for deferred skills. */
import { expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { FITTING, haversack, haversackRepo, ours, SKILL_TOOL } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";

const load = { tools: [toolCall(SKILL_TOOL, { name: "sql-tuning" })] };

it("gives the body once, then one line; to a sub-agent for itself", async () => {
  const repo = haversackRepo();
  const agent = toolCall("Agent", {
    description: "tune",
    prompt: "Tune it.",
    subagent_type: "general-purpose",
    run_in_background: false,
  });
  const inside = [1, 2].map((n): Rule => ({ kind: "sub-agent", n, reply: load }));
  const server = await testServer(steps([load, load, { tools: [agent] }, { text: "done" }], ...inside));
  const run = await runClaude({ repo, server, prompt: "Begin." });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  for (const requests of [server.of("main"), server.of("sub-agent")]) {
    const [first, second] = requests.slice(1, 3).map(({ toolResults }) => toolResults[0]);
    expect(first).toMatchObject({ isError: false, text: expect.stringContaining("BODY-OF-sql-tuning") });
    expect(second?.isError).toBe(false);
    expect(second?.text).not.toContain("BODY-OF-sql-tuning");
    expect(second?.text.trim().split("\n")).toHaveLength(1);
  }
});

it("is what the activation line of a deferred skill names, and works without a question", async () => {
  const repo = haversackRepo();
  haversack(repo, "skill", "defer", "--all");
  let line = "";
  const server = await testServer((request, n) => {
    if (request.kind !== "main" || n > 1) return undefined;
    line = /Activate: (.*)/.exec(ours(request)[0]?.text ?? "")?.[1] ?? "";
    const [, tool = "", name] = /^(\w+)\(name: "([^"]+)"\)$/.exec(line) ?? [];
    return { tools: [toolCall(tool, { name })] };
  });
  // Without --dangerously-skip-permissions, because the user's own settings must allow the call.
  const run = await runClaude({ repo, server, prompt: FITTING, skipPermissions: false });
  expect(run.exitCode).toBe(0);
  expect(line).toBe(`${SKILL_TOOL}(name: "release-notes")`);
  const [first, second] = server.of("main");
  expect(textOf(first!)).not.toMatch(/^- (release-notes|pdf-forms|sql-tuning)/m);
  expect(second?.toolResults).toMatchObject([
    { isError: false, text: expect.stringContaining("BODY-OF-release-notes") },
  ]);
});

it("off puts deferred skills back into the client's listing, its own tool loads them, and on hides them again", async () => {
  const repo = haversackRepo();
  haversack(repo, "skill", "defer", "--all");
  const listed = async (reply?: Parameters<typeof steps>[0]) => {
    const server = await testServer(reply && steps(reply));
    await runClaude({ repo, server, prompt: FITTING });
    const [first, second] = server.of("main");
    const names = [...textOf(first!).matchAll(/^- (release-notes|pdf-forms|sql-tuning): /gm)].map(([, name]) => name);
    return { names: names.sort(), ours: ours(first), result: second?.toolResults[0] };
  };
  expect(await listed()).toMatchObject({ names: [], ours: [{ event: "UserPromptSubmit" }] });
  haversack(repo, "off");
  const own = { tools: [toolCall("Skill", { skill: "release-notes" })] };
  expect(await listed([own, { text: "done" }])).toMatchObject({
    names: ["pdf-forms", "release-notes", "sql-tuning"],
    ours: [],
    result: { isError: false },
  });
  haversack(repo, "on");
  expect(await listed()).toMatchObject({ names: [], ours: [{ event: "UserPromptSubmit" }] });
});
