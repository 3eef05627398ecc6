import { describe, expect, it } from "vitest";
import { answerList, briefLine, entry } from "./work-answer.ts";

describe("briefLine", () => {
  it("is id and title; a status is told unless it is todo", () => {
    expect(briefLine({ id: "T1", title: "Mend it", status: "todo" })).toBe("T1 Mend it");
    expect(briefLine({ id: "T1", title: "Mend it", status: "done" })).toBe("T1 Mend it (done)");
    expect(briefLine({ id: "T1", title: "Mend it", status: "done" }, [])).toBe("T1 Mend it");
  });

  it("is one line, whatever a title holds", () => {
    expect(briefLine({ id: "T1", title: "a\nT2 b\r\u2028c" })).toBe("T1 a T2 b c");
  });
});

it("a text of several lines is set in behind its head", () => {
  expect(entry("M1 from ann", "one\r\ntwo\rthree\u2028four\n")).toBe("M1 from ann: one\n  two\n  three\n  four");
});

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
      '{"tasks":[],"left_out":9,"more":"the first needs max_tokens 60"}',
    );
  });

  it("is lines where it is asked for them, with what was left out as the last", () => {
    const lines = (list: Parameters<typeof answerList<{ id: string }>>[1]) =>
      answerList("tasks", list, { line: ({ id }) => `${id} title` }).text;
    expect(lines({ views, leftOut: 0, isReduced: false })).toBe("T1 title\nT2 title");
    expect(lines({ views, leftOut: 9, nextOffset: 2, isReduced: false })).toBe(
      "T1 title\nT2 title\n9 left out; offset: 2",
    );
    expect(lines({ views: [], leftOut: 0, isReduced: false })).toBe("no tasks");
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

describe("a task in a list", () => {
  it("is marked when it waits, and its title cannot pass for a status", () => {
    expect(briefLine({ id: "T1", title: "Fix", status: "todo" })).toBe("T1 Fix");
    expect(briefLine({ id: "T1", title: "Fix", status: "todo", waiting: true })).toBe("T1 Fix (waiting)");
    expect(briefLine({ id: "T1", title: "Fix", status: "done" })).toBe("T1 Fix (done)");
    expect(briefLine({ id: "T1", title: "Fix (done)", status: "todo" })).toBe('T1 "Fix (done)"');
  });
});
