import { describe, expect, it } from "vitest";
import { countTokens, loadCounter } from "./count.ts";

describe("countTokens", () => {
  it("counts o200k tokens", async () => {
    expect(await countTokens("")).toBe(0);
    expect(await countTokens("Carry only the context your coding agent needs.")).toBe(9);
    expect(await countTokens("请先阅读说明文档")).toBe(6);
  });

  it("counts special tokens as the text they are", async () => {
    expect(await countTokens("<|endoftext|>")).toBe(7);
    expect(await countTokens("a <|im_start|> b <|endofprompt|>")).toBeGreaterThan(10);
  });

  it("loads once", () => {
    expect(loadCounter()).toBe(loadCounter());
  });

  it("takes lone halves of surrogate pairs", async () => {
    expect(await countTokens("\ud800 and \udc00")).toBeGreaterThan(2);
  });

  // Without the cut, each of these would run for minutes and exceed the test's time limit.
  it.each([
    ["letters", "ab", 2, 250_000],
    ["digits", "1", 1, 333_334],
    ["spaces", " ", 1, 7_813],
    ["Han", "中", 1, 1_000_000],
    ["emoji", "😀", 2, 500_000],
  ])("counts a million characters of unbroken %s in a short time", async (_, unit, length, expected) => {
    const exact = await countTokens(unit.repeat(1_000_000 / length));
    expect(Math.abs(exact - expected) / expected).toBeLessThan(0.01);
  });

  it("does not change the count of text without such runs", async () => {
    const { countTokens: plain } = await import("gpt-tokenizer/encoding/o200k_base");
    const text = `${"word 12 ".repeat(300)}\n${"a".repeat(500)} ${"字".repeat(200)}。${"字".repeat(400)}\n${"1".repeat(2_000)}`;
    expect(await countTokens(text)).toBe(plain(text));
  });
});
