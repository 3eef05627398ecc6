import { describe, expect, it } from "vitest";
import { answerList } from "./work-answer.ts";

describe("answerList", () => {
  const views = [{ id: "T1" }, { id: "T2" }];
  const text = (list: Parameters<typeof answerList>[1]) => answerList("tasks", list).text;

  it("is the list alone when it is whole", () => {
    expect(text({ views, leftOut: 0, isReduced: false })).toBe('{"tasks":[{"id":"T1"},{"id":"T2"}]}');
  });

  it("says what was left out and how to get it", () => {
    expect(text({ views, leftOut: 9, nextOffset: 2, isReduced: false })).toBe(
      '{"tasks":[{"id":"T1"},{"id":"T2"}],"left_out":9,"more":"offset: 2"}',
    );
    expect(text({ views: [], leftOut: 9, nextOffset: 0, isReduced: false, cut: { firstTokens: 60 } })).toBe(
      '{"tasks":[],"left_out":9,"more":"max_tokens: 60"}',
    );
  });

  it("says where the rest of a single one is that was cut to its smallest form", () => {
    expect(text({ views: [{ id: "T1" }], leftOut: 0, isReduced: true })).toBe(
      '{"tasks":[{"id":"T1"}],"more":"get_task has the rest of this one"}',
    );
    expect(text({ views: [{ id: "T1" }], leftOut: 4, nextOffset: 1, isReduced: true })).toBe(
      '{"tasks":[{"id":"T1"}],"left_out":4,"more":"get_task has the rest of this one; offset: 1"}',
    );
  });
});
