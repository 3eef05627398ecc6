/** Deferred skills in the real Codex: the listing without them, and how the model still gets them. */
import { expect, it } from "vitest";
import { nativeListing } from "../../../packages/haversack/src/clients/skill-listings.ts";
import { countTokens } from "../../../packages/haversack/src/tokens/count.ts";
import { FITTING, listedIn, MANY, manySkills, writeMany } from "../many-skills.ts";
import { textOf, tokens } from "../request-text.ts";
import { namespaceCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import { steps } from "../script.ts";
import { codexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo, ours, trustFolder } from "./haversack-repo.ts";

it("takes sixty skills out of the listing, names the one that fits, serves it, and lets all back in", async () => {
  const repo = haversackRepo("user");
  writeMany(repo, ".agents/skills");
  haversack(repo, "skill", "index");
  const listed = (await codexOnce("Hello.", [], { repo })).server.requests[0]!;
  expect(listedIn(developerTexts(listed).join("\n"))).toHaveLength(MANY.length);

  haversack(repo, "skill", "defer", "--all");
  const load = { tools: [namespaceCall("mcp__haversack", "skill", { name: FITTING.name })] };
  const { server, run } = await codexOnce("Hello.", [], { repo, args: ["--strict-config"] });
  const deferred = server.requests[0]!;
  expect(run.exitCode).toBe(0);
  expect(listedIn(textOf(deferred))).toEqual([]);
  const [before, after] = await Promise.all([tokens(listed), tokens(deferred)]);
  console.info(`codex, first request with ${MANY.length} skills: listed ${before} tokens, deferred ${after}`);
  expect(before - after).toBeGreaterThan(40 * MANY.length);
  // What `haversack usage` takes for it.
  const counted = await countTokens(nativeListing("codex", manySkills(repo.root, ".agents/skills")));
  expect(Math.abs(counted - (before - after)) / (before - after)).toBeLessThan(0.05);

  const fitting = await codexOnce(FITTING.prompt, steps([load]), { repo });
  // Codex has no tool for skills: the file is the shorter way, listed or not. Our tool has it too.
  expect(ours(fitting.server.requests[0]).join()).toContain(
    `Read ${repo.root}/.agents/skills/${FITTING.name}/SKILL.md`,
  );
  expect(fitting.server.requests[1]?.toolResults[0]?.text).toContain(`BODY-OF-${FITTING.name}`);

  // Switched off, nothing brings them: the client lists them itself.
  const listedNow = async () => listedIn(textOf((await codexOnce("Hello.", [], { repo })).server.requests[0]!));
  haversack(repo, "off");
  expect(await listedNow()).toHaveLength(MANY.length);
  haversack(repo, "on");
  expect(await listedNow()).toEqual([]);

  haversack(repo, "skill", "undefer", "--all");
  const again = (await codexOnce("Hello.", [], { repo })).server.requests[0]!;
  expect(listedIn(developerTexts(again).join("\n"))).toHaveLength(MANY.length);
});

it("has one setting for that, which counts by the path of a skill's file, in the user's config.toml alone", async () => {
  const repo = codexRepo();
  const names = ["by-file", "by-folder", "in-project"];
  for (const name of names) repo.writeSkill(name);
  const off = (name: string, file = "/SKILL.md") =>
    `[[skills.config]]\npath = ${JSON.stringify(`${repo.root}/.agents/skills/${name}${file}`)}\nenabled = false\n`;
  repo.write(".codex/config.toml", off("in-project"));
  repo.addConfig(off("by-file") + off("by-folder", ""));
  trustFolder(repo);
  const { server } = await codexOnce("Go, $by-file and $in-project.", [], { repo, args: ["--strict-config"] });
  const text = textOf(server.requests[0]!);
  const listed = names.filter((name) => text.includes(`Knows about ${name}.`));
  expect(listed).toEqual(["by-folder", "in-project"]);
  expect(text).toContain("BODY-OF-in-project");
  expect(text).not.toContain("BODY-OF-by-file");
});
