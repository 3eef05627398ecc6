/** Deferred skills in the real Gemini CLI: the listing without them, and our tool that serves them. */
import { expect, it } from "vitest";
import { nativeListing } from "../../../packages/haversack/src/clients/skill-listings.ts";
import { countTokens } from "../../../packages/haversack/src/tokens/count.ts";
import { FITTING, listedIn, MANY, manySkills, writeMany } from "../many-skills.ts";
import { textOf, tokens } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, wire } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";
import { scratchGemini } from "./scratch-gemini.ts";

it("takes sixty skills out of the listing, names our tool for the one that fits, and serves it", async () => {
  const repo = scratchGemini();
  writeMany(repo, ".agents/skills");
  haversack(repo, "skill", "index");
  wire(repo, "project");
  const server = await testServer();
  await runGemini({ repo, server, prompt: "Hello." });
  const listed = server.of("main").at(-1)!;
  expect(listedIn(textOf(listed))).toHaveLength(MANY.length);

  haversack(repo, "skill", "defer", "--all");
  await runGemini({ repo, server, prompt: "Hello." });
  const deferred = server.of("main").at(-1)!;
  expect(listedIn(textOf(deferred))).toEqual([]);
  const [before, after] = await Promise.all([tokens(listed), tokens(deferred)]);
  console.info(`gemini, first request with ${MANY.length} skills: listed ${before} tokens, deferred ${after}`);
  expect(before - after).toBeGreaterThan(40 * MANY.length);
  // What `haversack usage` takes for it.
  const counted = await countTokens(nativeListing("gemini", manySkills(repo.root, ".agents/skills")));
  expect(Math.abs(counted - (before - after)) / (before - after)).toBeLessThan(0.05);

  const from = server.of("main").length;
  const load = toolCall("mcp_haversack_skill", { name: FITTING.name });
  server.setScript(steps([{ tools: [load] }, { text: "end" }]));
  await runGemini({ repo, server, prompt: FITTING.prompt });
  const [first, second] = server.of("main").slice(from);
  expect(first?.lastUserText).toContain(`mcp_haversack_skill(name: "${FITTING.name}")`);
  expect(second?.toolResults[0]?.text).toContain(`BODY-OF-${FITTING.name}`);

  // Switched off, nothing brings them: the client lists them itself.
  server.setScript([]);
  const listedNow = async () => {
    await runGemini({ repo, server, prompt: "Hello." });
    return listedIn(textOf(server.of("main").at(-1)!));
  };
  haversack(repo, "off");
  expect(await listedNow()).toHaveLength(MANY.length);
  haversack(repo, "on");
  expect(await listedNow()).toEqual([]);
});

it("a sub-agent's prompt is matched too: it is told the file to read, and the session's window has nothing of it", async () => {
  const repo = scratchGemini();
  writeMany(repo, ".agents/skills");
  haversack(repo, "skill", "index");
  wire(repo, "project");
  haversack(repo, "skill", "defer", "--all");
  const spawn = toolCall("invoke_agent", { agent_name: "codebase_investigator", prompt: FITTING.prompt });
  const server = await testServer(steps([{ tools: [spawn] }, { text: "end" }]));
  await runGemini({ repo, server, prompt: "Hello." });
  const [inside] = server.of("sub-agent");
  // It has no tool of ours: only what its author gave it.
  expect(textOf(inside!)).not.toContain("mcp_haversack_skill");
  expect(textOf(inside!)).toContain(`Read ${repo.root}/.agents/skills/${FITTING.name}/SKILL.md`);
  expect(server.of("main").map(textOf).join()).not.toContain("# Skill Recommendations");
});
