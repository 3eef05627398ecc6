import { expect, it } from "vitest";
import { bar, canDraw, columnsOf } from "./charts.ts";

it("draws only where block characters arrive as such", () => {
  const env = { TERM: "xterm-256color", LANG: "en_GB.UTF-8" };
  expect(canDraw({ isTerminal: true, env })).toBe(true);
  expect(canDraw({ isTerminal: false, env })).toBe(false);
  expect(canDraw({ isTerminal: true, env: { ...env, TERM: "dumb" } })).toBe(false);
  expect(canDraw({ isTerminal: true, env: { ...env, LC_ALL: "C" } })).toBe(false);
  expect(canDraw({ isTerminal: true, env: { LC_CTYPE: "C.utf8" } })).toBe(true);
  expect(canDraw({ isTerminal: true, env: {} })).toBe(false);
});

it("draws a share, also one that cannot be", () => {
  expect(bar(0.5, { cells: 4 })).toBe("██░░");
  expect(bar(7, { cells: 4 })).toBe("████");
  expect(bar(-1, { cells: 4 })).toBe("░░░░");
});

it("draws values on one scale: nothing is as low as 0, and the unknown is empty", () => {
  expect(columnsOf([0, 1, 50, 100, undefined])).toBe("▁▂▅█ ");
  expect(columnsOf([50, 100], 200)).toBe("▃▅");
  expect(columnsOf([0, 0])).toBe("▁▁");
  expect(columnsOf([])).toBe("");
});
