import { expect, it } from "vitest";
import { readOpencodeOutput, replaceOpencodeOutput } from "./tool-event.ts";

it("reads what the model is about to see: of a command, a file, an MCP tool", () => {
  expect(readOpencodeOutput("bash", { command: "npm test" }, { output: "ok", metadata: { exit: 1 } })).toEqual({
    kind: "command",
    text: "ok",
    source: "npm test",
    exitCode: 1,
  });
  expect(readOpencodeOutput("read", { filePath: "/a.ts", offset: 10 }, { output: "text" })).toEqual({
    kind: "read",
    text: "text",
    source: "/a.ts:10+",
  });
  const content = [
    { type: "text", text: "one" },
    { type: "text", text: "two" },
  ];
  expect(readOpencodeOutput("github_list", {}, { content })).toEqual({
    kind: "mcp",
    text: "one\ntwo",
    source: "github_list",
  });
});

it("leaves out our own tools, images, and built-in tools whose text the model needs", () => {
  const text = { type: "text", text: "x" };
  expect(readOpencodeOutput("haversack_get_tasks", {}, { content: [text] })).toBeUndefined();
  expect(readOpencodeOutput("shot_take", {}, { content: [text, { type: "image", data: "" }] })).toBeUndefined();
  expect(readOpencodeOutput("grep", { pattern: "x" }, { output: "long" })).toBeUndefined();
});

it("replaces the text where the client keeps it", () => {
  const builtIn = { output: "long" };
  replaceOpencodeOutput(builtIn, "preview");
  expect(builtIn).toEqual({ output: "preview" });
  const mcp = {
    content: [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ],
  };
  replaceOpencodeOutput(mcp, "preview");
  expect(mcp).toEqual({ content: [{ type: "text", text: "preview" }] });
});
