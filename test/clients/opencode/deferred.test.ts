/** Deferred skills in the real opencode: the listing without them, in sub-agents too, and our tool that serves them. */
import { expect, it } from "vitest";
import { nativeListing } from "../../../packages/haversack/src/clients/skill-listings.ts";
import { countTokens } from "../../../packages/haversack/src/tokens/count.ts";
import { FITTING, listedIn, MANY, manySkills, writeMany } from "../many-skills.ts";
import { textOf, tokens } from "../request-text.ts";
import { haversack } from "../run-haversack.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import { scratchOpencode } from "./scratch-opencode.ts";

it("takes sixty skills out of the listing, names our tool for the one that fits, and lets all back in", async () => {
  const repo = scratchOpencode();
  writeMany(repo, ".agents/skills");
  haversack(repo, "init", "--yes", "--client", "opencode");
  const server = await testServer();
  await runOpencode({ repo, server, prompt: "Hello." });
  const listed = server.of("main").at(-1)!;
  expect(listedIn(textOf(listed))).toHaveLength(MANY.length);

  haversack(repo, "skill", "defer", "--all");
  await runOpencode({ repo, server, prompt: "Hello." });
  const deferred = server.of("main").at(-1)!;
  expect(listedIn(textOf(deferred))).toEqual([]);
  const [before, after] = await Promise.all([tokens(listed), tokens(deferred)]);
  console.info(`opencode, first request with ${MANY.length} skills: listed ${before} tokens, deferred ${after}`);
  expect(before - after).toBeGreaterThan(40 * MANY.length);
  // What `haversack usage` takes for it.
  const counted = await countTokens(nativeListing("opencode", manySkills(repo.root, ".agents/skills")));
  expect(Math.abs(counted - (before - after)) / (before - after)).toBeLessThan(0.05);

  const spawn = toolCall("task", { description: "look", prompt: FITTING.prompt, subagent_type: "general" });
  const load = toolCall("haversack_skill", { name: FITTING.name });
  const from = server.of("main").length;
  server.setScript(steps([{ tools: [spawn] }, { tools: [load] }, { text: "end" }]));
  const run = await runOpencode({ repo, server, prompt: FITTING.prompt });
  expect(run.exitCode).toBe(0);
  const [first, , third] = server.of("main").slice(from);
  expect(first?.lastUserText).toContain(`haversack_skill(name: "${FITTING.name}")`);
  const [inside] = server.of("sub-agent");
  // Not listed: the one that fits its own prompt is recommended once, and at most five others are named.
  const named = listedIn(textOf(inside!));
  expect(named).toContain(FITTING.name);
  expect(named.length).toBeLessThanOrEqual(6);
  expect(inside?.lastUserText.split(`haversack_skill(name: "${FITTING.name}")`)).toHaveLength(2);
  expect(third?.toolResults[0]?.text).toContain(`BODY-OF-${FITTING.name}`);

  server.setScript([]);
  const listedNow = async () => {
    await runOpencode({ repo, server, prompt: "Hello." });
    return listedIn(textOf(server.of("main").at(-1)!));
  };
  // Switched off, nothing brings them: the client lists them itself.
  haversack(repo, "off");
  expect(await listedNow()).toHaveLength(MANY.length);
  haversack(repo, "on");
  expect(await listedNow()).toEqual([]);
  haversack(repo, "skill", "undefer", "--all");
  expect(await listedNow()).toHaveLength(MANY.length);
});
