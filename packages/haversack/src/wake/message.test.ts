import fc from "fast-check";
import { expect, it } from "vitest";
import { isAgentName } from "./text.ts";

it("takes for a name what begins with a letter or digit and has no other signs than three", () => {
  const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
  const part = fc.constantFrom(
    "a",
    "Z",
    "0",
    "9",
    ".",
    "_",
    "-",
    "@",
    "[",
    "`",
    "{",
    "/",
    ":",
    " ",
    "\u00e4",
    "x".repeat(31),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const name = parts.join("");
      expect(isAgentName(name)).toBe(pattern.test(name));
    }),
    { numRuns: 2_000 },
  );
});
