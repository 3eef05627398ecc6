import fc from "fast-check";
import { expect, it } from "vitest";
import { HookDate } from "./hook-clock.ts";

it("writes every time as a Date does", () => {
  const edges = [
    "0000-01-01T00:00:00.000Z",
    "1900-02-28T23:59:59.999Z",
    "2000-02-29T12:00:00.000Z",
    "2026-03-01T00:00:00.000Z",
  ];
  edges.push("9999-12-31T23:59:59.999Z", "+010000-01-01T00:00:00.000Z", "-000001-12-31T23:59:59.999Z");
  for (const text of edges) expect(new HookDate(text).toISOString()).toBe(text);
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      expect(new HookDate(date.getTime()).toISOString()).toBe(date.toISOString());
    }),
    { numRuns: 2000 },
  );
  expect(() => new HookDate(Number.NaN).toISOString()).toThrow(RangeError);
});
