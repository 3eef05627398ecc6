/** Files that a rule guards, in the real Codex: every file of a patch counts, moved ones under both names, from any folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { developerTexts } from "../responses-request.ts";
import { steps } from "../script.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo, killServers } from "./haversack-repo.ts";
import { patch } from "./tour.ts";

const MESSAGE = "Read the rules of the database first.";

function guardedRepo({ enforce, asksServer = false }: { enforce: boolean; asksServer?: boolean }): CodexRepo {
  const repo = haversackRepo("user", {}, { hasGuards: true, asksServer });
  const rule = {
    type: "guardrail",
    enforcement: "block",
    blockMessage: MESSAGE,
    fileTriggers: { pathPatterns: ["db/**"] },
  };
  repo.write(".claude/skills/skill-rules.json", JSON.stringify({ version: "1.0", skills: { "sql-tuning": rule } }));
  haversack(repo, "config", "set", "skills.enforce", String(enforce));
  haversack(repo, "trust", "--yes");
  repo.write("db/schema.sql", "one\n");
  repo.write("notes.txt", "one\n");
  haversack(repo, "skill", "index");
  return repo;
}

it.each([
  ["the second file", ["*** Add File: free.txt", "+x", "*** Update File: db/schema.sql", "@@", "-one", "+two"]],
  ["the new name of a moved file", ["*** Update File: notes.txt", "*** Move to: db/notes.txt", "@@", "-one", "+two"]],
  ["the old name of a moved file", ["*** Update File: db/schema.sql", "*** Move to: free.txt", "@@", "-one", "+two"]],
  ["a file by a way around", ["*** Add File: docs/../db/new.sql", "+x"]],
])("a patch is refused for %s", async (_, lines) => {
  const repo = guardedRepo({ enforce: true });
  const { server } = await codexOnce("Go.", steps([patch(...lines)]), { repo });
  const { toolResults } = server.requests[1]!;
  expect(toolResults.map(({ text }) => text).join()).toContain(MESSAGE);
  for (const file of ["free.txt", "db/notes.txt", "db/new.sql"]) expect(existsSync(join(repo.root, file))).toBe(false);
});

it("a patch is refused too where the server answers events and has been killed", async () => {
  const repo = guardedRepo({ enforce: true, asksServer: true });
  const { server } = await codexOnce(
    "Go.",
    ({ kind }, n) => {
      if (kind !== "main" || n > 1) return undefined;
      expect(killServers(repo)).toBe(1);
      return patch("*** Add File: db/new.sql", "+x");
    },
    { repo },
  );
  expect(server.requests[1]?.toolResults.map(({ text }) => text).join()).toContain(MESSAGE);
  expect(existsSync(join(repo.root, "db/new.sql"))).toBe(false);
});

it("a patch of other files goes through, and without the switch one of guarded files too, with a warning", async () => {
  const free = guardedRepo({ enforce: true });
  const { server } = await codexOnce("Go.", steps([patch("*** Add File: free.txt", "+x")]), { repo: free });
  expect(existsSync(join(free.root, "free.txt"))).toBe(true);
  expect(JSON.stringify(server.requests.at(-1)?.input)).not.toContain(MESSAGE);

  const warned = guardedRepo({ enforce: false });
  const lines = ["*** Add File: free.txt", "+x", "*** Add File: db/new.sql", "+x"];
  const second = await codexOnce("Go.", steps([patch(...lines)]), { repo: warned });
  expect(existsSync(join(warned.root, "db/new.sql"))).toBe(true);
  expect(developerTexts(second.server.requests.at(-1)!).filter((text) => text.includes(MESSAGE))).toHaveLength(1);
});
