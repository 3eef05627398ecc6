import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileKeyword, hasKeyword, preparePrompt } from "./keyword-match.ts";

const has = (keyword: string, prompt: string) => hasKeyword(preparePrompt(prompt), compileKeyword(keyword));

describe("hasKeyword", () => {
  it.each([
    ["test", "please add tests", "testing it", "It was tested.", "TEST"],
    ["deploy", "the deployment failed", "deploying now", "deployed", "deploys"],
    ["testing", "write a test"],
    ["create", "creating a file", "the creation of it", "created"],
    ["optimize", "optimizing this", "optimization", "optimise it", "optimisation"],
    ["validate", "validation fails", "validating"],
    ["verify", "verified", "verification", "verifies"],
    ["query", "slow queries"],
    ["plan", "planning", "planned"],
    ["debug", "debugging", "debugged"],
    ["code", "coding", "coded", "codes"],
    ["note", "noted"],
    ["fix", "fixed it", "fixing"],
    ["add", "adding", "added"],
    ["install", "installing", "installed", "installation"],
    ["class", "classes"],
    ["embed", "embedding", "embedded"],
    ["configure", "configuration", "configured"],
    ["migrate", "a migration", "migrating"],
    ["api", "our APIs"],
    ["user", "the user's page"],
    ["documentation", "document this"],
    ["call", "calling", "called"],
    ["control", "controlling"],
    ["format", "formatting", "formatted", "formats"],
    ["repeat", "repeating"],
  ])("finds the inflections of %s", (keyword, ...prompts) => {
    expect(prompts.filter((prompt) => !has(keyword, prompt))).toEqual([]);
  });

  it.each([
    ["test", "the latest version", "a contest", "attestation"],
    ["get", "widgets", "target"],
    ["form", "format it", "a platform", "transform"],
    ["port", "the portal", "a report", "portion"],
    ["api", "rapid", "capital"],
    ["note", "do not do it"],
    ["product", "in production"],
    ["state", "a statement"],
    ["add", "show ads"],
    ["new", "the news"],
    ["rest", "the interest"],
    ["ui", "build a guide"],
  ])("does not find %s inside other words", (keyword, ...prompts) => {
    expect(prompts.filter((prompt) => has(keyword, prompt))).toEqual([]);
  });

  it("matches phrases in order, side by side, each word inflected", () => {
    expect(has("create skill", "creating skills")).toBe(true);
    expect(has("create skill", "create a skill")).toBe(false);
    expect(has("create skill", "skill create")).toBe(false);
    expect(has("create skill", "First create. Skill second")).toBe(false);
    expect(has("create skill", "first create\n\nskill second")).toBe(false);
    expect(has("create skill", "first create\nskill second")).toBe(true);
    expect(has("unit test", "the unit unit tests")).toBe(true);
    expect(has("what's next", "What’s next?")).toBe(true);
    expect(has("pull request", "open a pull-request")).toBe(true);
  });

  it.each([
    ["c#", "in C# please", "abc# x"],
    ["c++", "a C++17 project", "abc++"],
    [".net", "an ASP.NET app", "the .network folder"],
    [".py", "run main.py now", "main.pyc"],
    ["t(", "call t('x')", "it('works')"],
    ["/deploy", "run /deploy now", "see src/deploy/x"],
    ["@testing-library/react", "use @testing-library/react here", "use testing library"],
    [".github/workflows", "edit .github/workflows/ci.yml", "github workflows"],
    ["#{}", "use #{} here", "use {} here"],
    ["=>", "a => b", "a = > b"],
  ])("matches the signs of %s", (keyword, yes, no) => {
    expect(has(keyword, yes)).toBe(true);
    expect(has(keyword, no)).toBe(false);
  });

  it.each([
    ["ci/cd", "CI/CD", "ci cd", "cicd"],
    ["node.js", "Node.js", "nodejs", "node js"],
    ["nodejs", "Node.js"],
    ["use-effect", "use effect", "useEffect", "use-effect"],
    ["multi-agent", "multiagent", "multi agents"],
    ["API_KEY", "the API key", "API_KEY="],
    ["end-to-end", "an end to end test"],
    ["skill-rules.json", "edit skill-rules.json"],
    ["useState", "useState(0)"],
    ["REQ-", "REQ-12"],
    ["12-factor", "a 12 factor app"],
  ])("joins and splits %s", (keyword, ...prompts) => {
    expect(prompts.filter((prompt) => !has(keyword, prompt))).toEqual([]);
  });

  it("finds words of scripts without spaces anywhere in the text", () => {
    expect(has("抓包", "请帮我抓包一下")).toBe(true);
    expect(has("테스트", "테스트를 작성해줘")).toBe(true);
    expect(has("데이터 변환", "이 데이터  변환을")).toBe(true);
    expect(has("テスト", "このテストを直して")).toBe(true);
    expect(has("http抓包", "做HTTP抓包")).toBe(true);
    expect(has("http抓包", "做xHTTP抓包")).toBe(false);
    expect(has("抓包", "请帮我")).toBe(false);
  });

  it("matches other alphabets as words", () => {
    expect(has("тест", "запусти тест")).toBe(true);
    expect(has("тест", "протестировать")).toBe(false);
    expect(has("prüfen", "bitte PRÜFEN")).toBe(true);
    expect(has("über", "über alles")).toBe(true);
  });

  it("takes nothing for a keyword, and nothing for a prompt", () => {
    expect(has("", "anything")).toBe(false);
    expect(has("   ", "anything")).toBe(false);
    expect(has("test", "")).toBe(false);
  });

  it("looks at the start and the end of a prompt of a megabyte", () => {
    const prompt = `deploy ${"filler ".repeat(150_000)} rollback`;
    expect(has("deploy", prompt)).toBe(true);
    expect(has("rollback", prompt)).toBe(true);
  });

  it("takes the stemmer as an argument", () => {
    const stem = (word: string) => word.slice(0, 3);
    expect(hasKeyword(preparePrompt("portal", { stem }), compileKeyword("port", { stem }))).toBe(true);
  });

  it("never throws, and finds every keyword in itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), (keyword) => {
        const compiled = compileKeyword(keyword);
        if (compiled !== "") expect(hasKeyword(preparePrompt(keyword), compiled)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
