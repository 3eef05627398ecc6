import { describe, expect, it } from "vitest";
import type { PlannedFile } from "../engine/init.ts";
import { lineDiff } from "../engine/init.ts";
import type { Io } from "./command.ts";
import { formatSummary } from "./print-plan.ts";

const io = (width?: number) => ({ isColour: false, ...(width !== undefined && { width }) }) as Io;

function planned(kind: PlannedFile["kind"], path: string, about: string, before: string, after: string): PlannedFile {
  const file = { path, about, blank: "", wire: (text: string) => ({ text, keep: [] }), unwire: (text: string) => text };
  return { clients: ["x"], path, about, kind, diff: lineDiff(before, after), file, place: { within: "/p" } };
}

describe("formatSummary", () => {
  const files = [
    planned("make", "/p/a/settings.json", "hooks, and the permission to call our tools", "", "1\n2\n"),
    planned("make", "/p/a/agents/x-one.md", "an agent", "", "1\n"),
    planned("make", "/p/a/agents/x-two.md", "an agent", "", "1\n2\n"),
    planned("change", "/p/.git/info/exclude", "keeps out", "a\nb\n", "a\nc\n"),
  ];

  it("has a line per file with what comes and goes; files of one kind in one folder share it", () => {
    expect(formatSummary(io(), files, "/p").split("\n")).toEqual([
      "  make   a/settings.json       +2  hooks, and the permission to call our tools",
      "  make   a/agents/x-*.md       +3  2 files: an agent",
      "  change .git/info/exclude  +1 -1  keeps out",
    ]);
  });

  it("breaks what is too long for the terminal below its own column", () => {
    const lines = formatSummary(io(60), files, "/p").split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    expect(lines[1]).toMatch(/^ {35}\S/);
  });

  it("puts the description below the path where the columns do not fit", () => {
    const long = planned(
      "make",
      "/p/.claude/agents/some-folder/settings.local.json",
      "hooks and permissions",
      "",
      "1\n",
    );
    expect(formatSummary(io(60), [long], "/p").split("\n")).toEqual([
      "  make   .claude/agents/some-folder/settings.local.json  +1",
      "         hooks and permissions",
    ]);
  });

  it("names a file outside of the project by its whole path", () => {
    expect(formatSummary(io(), [planned("remove", "/elsewhere/x.json", "hooks", "1\n", "")], "/p")).toContain(
      "remove /elsewhere/x.json  -1  hooks",
    );
  });
});
