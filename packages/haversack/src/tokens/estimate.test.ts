import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadCounter } from "./count.ts";
import { estimateTokens } from "./estimate.ts";

describe("estimateTokens", () => {
  it("is 0 for no text and at least 1 for any", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens(" ")).toBe(1);
    expect(estimateTokens("\n")).toBe(1);
  });

  it.each([
    ["a word", "word", 1],
    ["words share their single spaces", "one two three four five six", 6],
    ["camel humps", "someOtherName".repeat(4), 9],
    ["an acronym ends where the next word starts", "HTTPServer".repeat(10), 17],
    ["long words", "internationalization", 3],
    ["long numbers are cut into threes", "1234567890".repeat(30), 101],
    ["a line of dashes is few tokens", "-".repeat(80), 6],
    ["deep indentation is one token", `${" ".repeat(40)}x`, 2],
    ["Han", "请先阅读项目根目录下的说明文档", 13],
    ["an emoji counts once, not per half", "😀".repeat(10), 24],
  ])("%s", (_, text, expected) => {
    expect(estimateTokens(text)).toBe(expected);
  });

  it("never falls when text is appended, and is a whole number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, more) => {
        expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(estimateTokens(text));
        expect(Number.isInteger(estimateTokens(text))).toBe(true);
      }),
    );
  });

  // Guards the weights: a change that makes a kind of text worse fails here. The benchmark measures the actual error per kind.
  it.each([
    [
      "prose",
      "The queue hands out the next task only when nothing blocks it, and takes it back when its lease has ended. ".repeat(
        5,
      ),
    ],
    [
      "code",
      "export function nextTask(queue: readonly Task[], { now }: Options): Task | undefined {\n  return queue[0];\n}\n".repeat(
        5,
      ),
    ],
    [
      "JSON",
      '{"id": "T-7k3m9q2x", "title": "Write the index", "state": "running", "files": ["src/index.ts"], "age": 12}\n'.repeat(
        5,
      ),
    ],
    ["Chinese", "每次提交都应该只包含一个变更,并附上相应的测试。如果测试失败,请找出原因并记录下来。".repeat(5)],
    ["Japanese", "コードを変更する前に、説明書を読んで、システム全体の構成を理解してください。".repeat(5)],
    ["Russian", "Перед тем как менять код, прочитайте описание проекта в корневой папке. ".repeat(5)],
  ])("is within a quarter of the exact count on %s", async (_, text) => {
    const exact = (await loadCounter())(text);
    expect(Math.abs(estimateTokens(text) - exact) / exact).toBeLessThan(0.25);
  });
});
