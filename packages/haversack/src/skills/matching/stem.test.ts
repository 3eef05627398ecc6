import { describe, expect, it } from "vitest";
import { stem } from "./tokenize.ts";

describe("stem", () => {
  it.each([
    "test tests testing tested tester",
    "add adds adding added",
    "deploy deployment deployments deploying deployed",
    "optimize optimizer optimization optimizing optimise",
    "authenticate authentication authenticating authenticator",
    "query queries querying queried",
    "plan plans planning planned planner",
    "cache caching cached caches",
    "document documents documenting",
    "commit commits committing committed",
  ])("gives one stem to: %s", (family) => {
    expect(new Set(family.split(" ").map(stem)).size).toBe(1);
  });

  it.each(["author authorize", "document documentation", "test text", "port report"])(
    "keeps apart: %s",
    (strangers) => {
      expect(new Set(strangers.split(" ").map(stem)).size).toBe(2);
    },
  );

  it("leaves names, short words and other scripts alone", () => {
    for (const name of ["s3", "oauth2", "net8", "aws", "kubernetes", "nodejs", "naïve", "测试"]) {
      expect(stem(name)).toBe(name);
    }
  });
});

it("cuts every ending it knows", () => {
  const endings =
    "ization isation ational fulness iveness ability ibility ication ation ition ution ment ness ally ator able ible izer iser ance " +
    "ence less ful ise ity ive ly er or al";
  for (const ending of endings.split(" ")) {
    const word = `pomad${ending}`;
    expect([word, stem(word).length < word.length - 1]).toEqual([word, true]);
  }
});
