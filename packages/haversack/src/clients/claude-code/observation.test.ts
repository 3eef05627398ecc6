import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readClaudeObservation } from "./observation.ts";

const FIXTURES = join(import.meta.dirname, "../../../../../test/fixtures/claude-code");
const fixture = (name: string) => JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), "utf8")).payload;

const bash = (command: string, response: object) =>
  readClaudeObservation({
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_input: { command },
    tool_response: response,
  });

it("takes the lines that a Read really showed", () => {
  const part = readClaudeObservation(fixture("post-tool-use.read.part"));
  expect(part).toEqual({ tool: "read", path: "/repo/a.txt", offset: 2, shownLines: 1, totalLines: 3 });
  expect(readClaudeObservation(fixture("post-tool-use.read"))).toMatchObject({ tool: "read", offset: 1 });
});

it.each(["post-tool-use-failure.read", "post-tool-use-failure.bash", "post-tool-use.edit", "subagent-stop"])(
  "%s: has shown nothing",
  (name) => expect(readClaudeObservation(fixture(name))).toBeUndefined(),
);

it("counts the lines of a command's output, and of a large one those of the preview", () => {
  expect(bash("cat a.md", { stdout: "1\n2\n3" })).toMatchObject({ tool: "shell", outputLines: 3 });
  expect(bash("cat a.md", { stdout: "" })).toMatchObject({ outputLines: 0 });
  const large = { stdout: "123456789\n".repeat(4000), persistedOutputPath: "/x.txt" };
  expect(bash("cat a.md", large)).toMatchObject({ outputLines: 201 });
});

it.each([{ stdout: "1", interrupted: true }, { stdout: "1", backgroundTaskId: "b1" }, {}])(
  "%j: nobody knows what it showed",
  (response) => expect(bash("cat a.md", response)).toBeUndefined(),
);

it.each([
  ["grep -n x a.md", { tool: "grep", path: "a.md", lines: [3, 4] }],
  ["rg --line-number x a.md", { tool: "grep", path: "a.md" }],
  // The output does not show which line belongs to which file.
  ["grep -hn x a.md b.md", { tool: "shell" }],
  ["grep x a.md", { tool: "shell" }],
  ["grep -n x a.md | tail -1", { tool: "shell" }],
  ["grep -n x a.md > b.txt", { tool: "shell" }],
])("%s", (command, expected) => expect(bash(command, { stdout: "3:x\n4-y\n--\nzz" })).toMatchObject(expected));

const grep = (response: object, input: object = {}) =>
  readClaudeObservation({
    hook_event_name: "PostToolUse",
    tool_name: "Grep",
    tool_input: { pattern: "x", ...input },
    tool_response: { numFiles: 0, filenames: [], ...response },
  });

it("takes what a search showed, of a large one the preview, and nothing of one that names files or counts", () => {
  const content = "1:one x\n2-two";
  expect(grep({ mode: "content", content }, { path: "/repo/a.md" })).toEqual({
    tool: "search",
    path: "/repo/a.md",
    text: content,
  });
  expect(grep({ mode: "content", content })).toEqual({ tool: "search", text: content });
  expect(grep({ mode: "content", content: "123456789\n".repeat(3000) })).toMatchObject({
    text: "123456789\n".repeat(200),
  });
  expect(grep({ mode: "files_with_matches", filenames: ["a.md"] })).toBeUndefined();
  expect(grep({ mode: "count", content: "a.md:3" })).toBeUndefined();
});
