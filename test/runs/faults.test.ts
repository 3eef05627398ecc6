/** Each fault once; `npm run faults` strikes with each twenty times. */
import { expect, it } from "vitest";
import { CELLS, playCell } from "./fault-cells.ts";

// The others have tests of their own beside this file.
const SHORT = ["runner SIGKILL", "client SIGKILL", "garbage stream", "store locked"];

it.each(SHORT)("%s: nothing is lost, done twice or left behind", async (name) => {
  expect(Object.keys(CELLS)).toContain(name);
  expect((await playCell(name)).problems).toEqual([]);
});
