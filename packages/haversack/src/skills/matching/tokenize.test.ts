import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pairs, termOf, tokenize } from "./tokenize.ts";

const terms = (text: string) => tokenize(text).map((token) => token.term);

describe("tokenize", () => {
  it("keeps names whose signs matter", () => {
    expect(terms("C# and .NET, Node.js, CI/CD, pub/sub, C++, ASP.NET")).toEqual(
      ["csharp", "dotnet", "nodejs", "cicd", "pubsub", "cpp", "aspnet", "dotnet"].map(termOf),
    );
  });

  it("splits camelCase and keeps the whole beside the parts", () => {
    expect(tokenize("call getUserToken()").map(({ term, kind }) => `${kind} ${term}`)).toEqual([
      "word call",
      "whole getusertoken",
      "part token",
    ]);
  });

  it("does not split names that are one word to everybody", () => {
    expect(terms("GitHub MongoDB PostgreSQL OAuth2 gRPC iOS")).toEqual([
      "github",
      "mongodb",
      "postgresql",
      "oauth2",
      "grpc",
      "ios",
    ]);
  });

  it("takes a number after a name for its version, with or without a space", () => {
    expect(terms("migrate to Angular 17")).toContain("angular17");
    expect(terms("angular-17-upgrade")).toContain("angular17");
    expect(terms("17 of them")).toEqual([]);
  });

  it("knows the language Go from the verb, and React from reacting", () => {
    expect(terms("Write a Go service")).toContain("golang");
    expect(terms("go to the next step")).not.toContain("golang");
    expect(terms("it does not react to changes")).not.toContain("react");
  });

  it("drops stop words, numbers and very long runs", () => {
    expect(terms(`please help me with the 42 of ${"x".repeat(200)}`)).toEqual([]);
  });

  it("reads scripts without spaces by pairs of characters, apart from Latin words beside them", () => {
    expect(terms("请用React写组件")).toEqual(["请用", "react", "写组", "组件"]);
  });

  it("treats typographic signs as the end of a phrase", () => {
    expect(pairs(tokenize("fix the tests — deploy later")).map((pair) => pair.text)).toEqual([
      "fix tests",
      "deploy later",
    ]);
  });

  it("never throws, and gives no empty term, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        for (const token of tokenize(text)) expect(token.term).not.toBe("");
      }),
    );
  });
});

describe("pairs", () => {
  it("lets front end, front-end and frontend meet", () => {
    const pair = (text: string) => pairs(tokenize(text)).map(({ term }) => term);
    expect(pair("front end")).toEqual(["frontend"]);
    expect(pair("front-end")).toEqual(["frontend"]);
    expect(terms("frontend")).toEqual(["frontend"]);
  });

  it("does not reach over the end of a sentence or a line", () => {
    expect(pairs(tokenize("run tests. Deploy\nnow later"))).toHaveLength(1);
  });
});

it("reads a text the same way, whether or not a letter beyond ASCII stands in it", () => {
  const sign = fc.constantFrom(..."$@_.'/\\+#~-!?;:\n|()[]{}<>\"`, \t&*=%^\0");
  const word = fc.constantFrom(
    "don't",
    "it's",
    "we'LL",
    "O'Reilly",
    "HTTPServer",
    "asNoTracking",
    "net8.0.1",
    "v2",
    "GitHub",
  );
  const letter = fc.constantFrom(..."aeinstABCXYZ0129");
  const text = fc.array(fc.oneof(letter, letter, letter, sign, word), { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (ascii) => {
      const beside = tokenize(`${ascii}\n\u00fcber`).filter((token) => token.text !== "\u00fcber");
      expect(beside).toEqual(tokenize(ascii));
    }),
    { numRuns: 2000 },
  );
});
