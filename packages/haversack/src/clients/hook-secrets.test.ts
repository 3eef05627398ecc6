import fc from "fast-check";
import { expect, it } from "vitest";
import { mayHoldSecret } from "../base/may-hold-secret.ts";
import { isWorthMasking } from "./hook-secrets.ts";

it("passes over no text that may hold a secret", () => {
  const piece = fc.constantFrom(
    ..."pass pwd secret token key bearer basic authorization :// @ -- curl xox slack .com AKIA ASIA ABCA AIza GOCSPX ya29 SG SK :AA".split(
      " ",
    ),
    ..."hvs hvb AGE eyJ sk pplx xai nvapi tskey xapp pypi glpat gsk r8 figd lin_api sbp gh github_pat npm hf whsec private".split(
      " ",
    ),
    ..." .:=-_@a0f?\n".split(""),
  );
  const text = fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 8 });
  fc.assert(
    fc.property(text, (pieces) => {
      const written = pieces.map(([part, isUpper]) => (isUpper ? part.toUpperCase() : part)).join("");
      if (mayHoldSecret(written)) expect(isWorthMasking(written)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

it("lets ordinary prompts pass", () => {
  expect(isWorthMasking("Please write a test for the new parser, and fix what fails: it is in src/parse.ts.")).toBe(
    false,
  );
  expect(isWorthMasking("the token is: abc")).toBe(true);
});
