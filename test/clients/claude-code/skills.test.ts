/** The client's own skills: how they are listed, called and hidden, and what remains of them after a compaction. */
import { describe, expect, it } from "vitest";
import { messagesText, textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

describe("the Skill tool", () => {
  it("finds the listed skill, answers with one line and puts the body behind it", async () => {
    const repo = skillRepo();
    repo.recordHooks();
    const server = await testServer(
      steps([{ tools: [toolCall("Skill", { skill: "knots", args: "bowline" })] }, { text: "ok" }]),
    );
    await runClaude({ repo, server, prompt: "Tie it." });
    const [first, second] = server.of("main");
    expect(listing(textOf(first!), "knots")).toBe("- knots: Knows about knots.");
    expect(textOf(first!)).not.toContain("BODY-OF-knots");
    expect(second?.toolResults).toMatchObject([{ text: "Launching skill: knots", isError: false }]);
    expect(second?.lastUserText).toContain("BODY-OF-knots for bowline");
    expect(repo.hooks("PostToolUse")[0]?.payload).toMatchObject({
      tool_name: "Skill",
      tool_input: { skill: "knots", args: "bowline" },
      tool_response: { success: true, commandName: "knots" },
    });
  });

  it("is not needed when the person types /knots", async () => {
    const repo = skillRepo();
    repo.recordHooks();
    const server = await testServer();
    await runClaude({ repo, server, prompt: "/knots bowline" });
    expect(server.requests[0]?.lastUserText).toContain("BODY-OF-knots for bowline");
    expect(repo.hooks("UserPromptExpansion")[0]?.payload).toMatchObject({
      expansion_type: "slash_command",
      command_name: "knots",
      command_args: "bowline",
    });
  });

  it("refuses an unknown name without any hook", async () => {
    const repo = skillRepo();
    repo.recordHooks();
    const server = await testServer(steps([{ tools: [toolCall("Skill", { skill: "nothing" })] }, { text: "ok" }]));
    await runClaude({ repo, server, prompt: "Tie it." });
    expect(server.of("main")[1]?.toolResults).toMatchObject([{ isError: true }]);
    expect([...repo.hooks("PreToolUse"), ...repo.hooks("PostToolUseFailure")]).toEqual([]);
  });

  it("is remembered by the client: the body comes back by itself after a compaction", async () => {
    const repo = skillRepo();
    const server = await testServer(
      steps([{ tools: [toolCall("Skill", { skill: "knots", args: "bowline" })] }, { text: "one" }]),
    );
    await runClaude({ repo, server, prompt: ["Tie it.", "Again.", "/compact", "Go on."] });
    const after = messagesText(server.of("main").at(-1)!);
    expect(after.split("BODY-OF-knots")).toHaveLength(2);
  });
});

describe("skillOverrides", () => {
  it("name-only: name without description, and the Skill tool works", async () => {
    const { first, result } = await withOverride("name-only");
    expect(listing(first, "knots")).toBe("- knots");
    expect(result).toMatchObject({ isError: false });
  });

  it.each(["off", "user-invocable-only"])("%s: not listed, and the Skill tool refuses", async (value) => {
    const { first, result } = await withOverride(value);
    expect(listing(first, "knots")).toBeUndefined();
    expect(result).toMatchObject({ isError: true });
  });

  async function withOverride(value: string) {
    const repo = skillRepo();
    repo.writeSettings({ skillOverrides: { knots: value } });
    const server = await testServer(steps([{ tools: [toolCall("Skill", { skill: "knots" })] }, { text: "ok" }]));
    await runClaude({ repo, server, prompt: "Tie it." });
    const [first, second] = server.of("main");
    return { first: textOf(first!), result: second?.toolResults[0] };
  }
});

function skillRepo(): ScratchRepo {
  const repo = scratchRepo();
  repo.writeSkill("knots", { body: "BODY-OF-knots for $ARGUMENTS" });
  return repo;
}

/** The skill's line in the client's listing. */
function listing(text: string, name: string): string | undefined {
  return text.split("\n").find((line) => line === `- ${name}` || line.startsWith(`- ${name}:`));
}
