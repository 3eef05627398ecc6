/** A stale or missing index is made in the background, so no prompt has to check it, and the event that notices it says nothing. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteSkillIndex } from "../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { wireServer } from "./claude-session.ts";

const skill = (name: string) => `---\nname: ${name}\ndescription: Knows about ${name}.\n---\n\nBody.\n`;

it("at the start of a session of Gemini, before any prompt", async () => {
  const project = scratchProject();
  project.write(".agents/skills/knots/SKILL.md", skill("knots"));
  project.haversack(["skill", "index"]);
  project.write(".agents/skills/sails/SKILL.md", skill("sails"));
  const event = { session_id: "g1", cwd: project.root, timestamp: "2031-01-01T00:00:00.000Z" };
  const start = { ...event, hook_event_name: "SessionStart", source: "startup" };
  expect(project.hook(start, { client: "gemini" })).toMatchObject({ code: 0, out: "", err: "" });
  await untilIndexed(project, ["knots", "sails"]);
});

it("at the end of a turn in which skills were added, renamed and deleted", async () => {
  const project = scratchProject();
  for (const name of ["knots", "flags", "oars"]) project.write(`.claude/skills/${name}/SKILL.md`, skill(name));
  project.haversack(["skill", "index"]);
  const event = { session_id: "s1", cwd: project.root, transcript_path: join(project.home, "s1.jsonl") };
  expect(project.hook({ ...event, hook_event_name: "SessionStart", source: "startup" }).code).toBe(0);
  project.write(".claude/skills/sails/SKILL.md", skill("sails"));
  project.write(".claude/skills/flags/SKILL.md", skill("pennants"));
  rmSync(join(project.root, ".claude/skills/oars"), { recursive: true });
  expect(project.hook({ ...event, hook_event_name: "Stop" })).toMatchObject({ code: 0, out: "", err: "" });
  await untilIndexed(project, ["knots", "pennants", "sails"]);
});

it("at the start of a session whose store was deleted, in a project that `init` has wired", async () => {
  const project = scratchProject();
  project.write(".claude/skills/knots/SKILL.md", skill("knots"));
  wireServer(project);
  rmSync(join(project.root, ".haversack/haversack.db"));
  const event = { session_id: "s1", cwd: project.root, transcript_path: join(project.home, "s1.jsonl") };
  expect(project.hook({ ...event, hook_event_name: "SessionStart", source: "startup" })).toMatchObject({
    code: 0,
    out: "",
  });
  await untilIndexed(project, ["knots"]);
});

/** No command that checks the index has run. */
async function untilIndexed({ root }: Scratch, names: string[]): Promise<void> {
  await vi.waitFor(() => expect(indexed(root)).toEqual(names), { timeout: 20_000, interval: 200 });
}

function indexed(root: string): string[] {
  // Opening would make it.
  if (!existsSync(join(root, ".haversack/haversack.db"))) return [];
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
