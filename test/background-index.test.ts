/** Gemini's own session start outputs nothing, but rebuilds a stale index, so no prompt has to check it. */
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteSkillIndex } from "../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { scratchProject } from "./bins.ts";

const skill = (name: string) => `---\nname: ${name}\ndescription: Knows about ${name}.\n---\n\nBody.\n`;

it("has a stale index rebuilt in the background, before any prompt, and says nothing", async () => {
  const project = scratchProject();
  project.write(".agents/skills/knots/SKILL.md", skill("knots"));
  project.haversack(["skill", "index"]);
  project.write(".agents/skills/sails/SKILL.md", skill("sails"));
  const event = { session_id: "g1", cwd: project.root, timestamp: "2031-01-01T00:00:00.000Z" };
  const start = { ...event, hook_event_name: "SessionStart", source: "startup" };
  expect(project.hook(start, { client: "gemini" })).toMatchObject({ code: 0, out: "", err: "" });
  // Neither a prompt nor a command that checks the index has run.
  await vi.waitFor(() => expect(indexed(project.root)).toEqual(["knots", "sails"]), { timeout: 20_000, interval: 200 });
});

function indexed(root: string): string[] {
  const handle = openDatabase(join(root, ".haversack/haversack.db"), { durability: "normal" });
  try {
    return new SqliteSkillIndex(handle.db)
      .listCards()
      .map(({ id }) => id)
      .sort();
  } finally {
    handle.db.close();
  }
}
