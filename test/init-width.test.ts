/** `init`, `trust` and `uninstall` in a narrow terminal. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "./skills-run.ts";
import { repository } from "./wiring-repo.ts";

it.each([60, 80])("fits %i columns: the plan, the notes, and what a clone brought", async (width) => {
  const repo = repository("project");
  mkdirSync(join(repo.home, ".codex"));
  mkdirSync(join(repo.home, ".gemini"));
  await repo.cli("init", "--yes", "--client", "gemini");
  const folders = ["../../a/folder/with/skills", "../../and/one/more/of/them"];
  repo.write(".haversack/config.json", JSON.stringify({ skills: { folders, auto_load: "confident" } }));
  repo.write(".haversack/templates/implementer.md", `${"You are the implementer of this project. ".repeat(4)}\n`);
  for (const words of [["init", "--dry-run"], ["trust"], ["uninstall", "--dry-run"]]) {
    const io = { env: repo.env, isTerminal: true, width, errorWidth: () => width };
    const { out, err } = await run({ root: repo.root, home: repo.home }, words, io);
    expect(out).not.toBe("");
    // A path that is longer than the line cannot be broken.
    const isBreakable = (line: string) => line.split(/ +/).every(({ length }) => length < 40);
    const long = `${out}${err}`.split("\n").filter((line) => line.length > width && isBreakable(line));
    expect({ words, long }).toEqual({ words, long: [] });
  }
});
