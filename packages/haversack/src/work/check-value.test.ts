import { describe, expect, it } from "vitest";
import { checkChoice, checkWhole } from "./clean-input.ts";

describe("checkWhole", () => {
  it("takes whole numbers from the minimum, and the fallback for none", () => {
    expect(checkWhole(3, { field: "limit", fallback: 50 })).toBe(3);
    expect(checkWhole(undefined, { field: "limit", fallback: 50 })).toBe(50);
    expect(checkWhole(0, { field: "offset", minimum: 0, fallback: 0 })).toBe(0);
  });

  it.each([[-1], [0], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], ["3"]])(
    "refuses %j, and names the field",
    (value) => {
      expect(() => checkWhole(value, { field: "limit", fallback: 1 })).toThrow(
        /^limit must be a whole number of at least 1, but is /,
      );
    },
  );
});

describe("checkChoice", () => {
  it("names the field, the choices and the nearest one", () => {
    const choices = ["todo", "in_progress"] as const;
    expect(checkChoice("todo", { field: "status", choices })).toBe("todo");
    expect(checkChoice(undefined, { field: "status", choices })).toBeUndefined();
    expect(() => checkChoice("in_progres", { field: "status", choices })).toThrow(
      'status must be one of todo, in_progress, but is "in_progres"; did you mean in_progress?',
    );
    expect(() => checkChoice(7, { field: "status", choices })).toThrow("but is 7");
  });
});
