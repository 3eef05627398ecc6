import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readJson } from "../../base/json.ts";
import type { SkillRule } from "../types.ts";
import { parseRules } from "./parse-rules.ts";

const FILE = "skill-rules.json";
const parse = (value: unknown) => parseRules(value, FILE);
const only = (value: unknown): SkillRule => {
  const { rules } = parse(value);
  expect(rules).toHaveLength(1);
  return rules[0]!;
};
const texts = (items: { text: string }[]) => items.map(({ text }) => text);

/** One file of each shape, written for these tests. */
const SHAPES: Record<string, unknown> = {
  map: {
    version: "1.0",
    description: "Rules",
    skills: {
      "ship-it": {
        type: "guardrail",
        enforcement: "block",
        priority: "critical",
        description: "How we ship",
        domain: "delivery",
        defer_loading: { enabled: true, short_description: "Release steps and checks" },
        promptTriggers: {
          keywords: ["ship", { value: "roll out", weight: 3.5 }],
          synonyms: ["launch"],
          intentPatterns: ["(ship|release).*?build", { value: "cut a release", weight: 2 }],
          keywordExclusions: ["shipping address"],
        },
        fileTriggers: {
          pathPatterns: ["deploy/**/*.yml"],
          pathExclusions: ["**/*.test.yml"],
          contentPatterns: ["kind: Deployment"],
          createOnly: true,
        },
        excludePatterns: ["dry.?run"],
        skipConditions: {
          sessionSkillUsed: true,
          fileMarkers: ["@no-ship"],
          envOverride: "NO_SHIP",
          sessionMarker: "ship-used",
        },
        blockMessage: "Stop.\nRead the steps first.",
        agentContext: ["releaser"],
        taskTypes: ["release"],
        alwaysActive: false,
        triggerThreshold: 0.4,
      },
    },
    notes: { anything: true },
  },
  list: {
    skills: [{ name: "Graphs", triggers: { keywords: ["chart"], filePathPatterns: ["viz/.*", "plots/fig.*"] } }],
  },
  rules: {
    rules: [{ skill: "map-code", triggers: ["map the code", "how is .* built", "call graph"], description: "Maps it" }],
  },
  activation: {
    activation_rules: [
      {
        skill: "clips",
        triggers: {
          keywords: ["short clip"],
          file_patterns: ["*.mov"],
          commands: ["/clip"],
          intents: ["publish"],
          agents: ["editor"],
        },
        priority: "low",
      },
    ],
  },
  bare: {
    "write-docs": {
      type: "domain",
      enforcement: "suggest",
      priority: "normal",
      promptTriggers: { keywords: ["docs"] },
    },
  },
  patterns: [
    { pattern: "\\bsql\\b", skill: "database" },
    { pattern: "\\bpdf\\b", skill: "pdf" },
    { pattern: "\\bindex(es)?\\b", skill: "database" },
  ],
  single: {
    name: "translate",
    version: "2",
    trigger: { keywords: ["translate"], intent_patterns: ["translate.*to"], file_paths: ["**/*.po"] },
  },
  words: { skills: { accessibility: ["button", "contrast"] } },
  flat: {
    skills: [
      {
        name: "tune",
        keywords: ["slow"],
        intents: ["make it fast"],
        filePathTriggers: ["*.sql"],
        contentTriggers: ["for ("],
      },
    ],
  },
};

describe("values of the wrong type", () => {
  const read = (entry: Record<string, unknown>) => parseRules({ skills: { x: entry } }, "rules.json");
  const texts = (entry: Record<string, unknown>) => read(entry).problems.map(({ text }) => text);

  it.each(["yes", "no", "true", 1, 0])("enabled: %j is understood and reported", (enabled) => {
    const entry = { keywords: ["a"], enabled };
    expect(texts(entry).join()).toContain("expected true or false, without quotes");
    expect(read(entry).rules).toHaveLength(enabled === "no" || enabled === 0 ? 0 : 1);
  });

  it("a flag in quotes is understood and reported, also inside defer_loading", () => {
    const entry = {
      keywords: ["a"],
      alwaysActive: "yes",
      defer_loading: { enabled: "yes", short_description: "Says what it is for" },
    };
    expect(read(entry).rules[0]).toMatchObject({ alwaysActive: true, defer: { enabled: true } });
    expect(
      read(entry)
        .problems.map(({ where }) => where)
        .sort(),
    ).toEqual(["alwaysActive", "defer_loading.enabled"]);
  });

  it("one text in place of a list is understood and reported; a key for one text may have one", () => {
    expect(read({ promptTriggers: { keywords: "alpha" } }).rules[0]!.keywords).toEqual([{ text: "alpha", weight: 1 }]);
    expect(texts({ promptTriggers: { keywords: "alpha" } }).join()).toContain("expected a list of texts, not one text");
    expect(texts({ pathPatterns: "src/**" }).join()).toContain("expected a list of texts");
    expect(texts({ keyword: "alpha" })).toEqual([]);
    expect(texts({ keywords: ["alpha"], enabled: true })).toEqual([]);
  });
});

describe("parseRules", () => {
  it("reads every field of a full rule", () => {
    const { rules, problems } = parse(SHAPES["map"]);
    expect(problems).toEqual([]);
    expect(rules).toEqual([
      {
        skill: "ship-it",
        file: FILE,
        type: "guardrail",
        domain: "delivery",
        description: "How we ship",
        enforcement: "block",
        priority: "critical",
        defer: { enabled: true, shortDescription: "Release steps and checks" },
        keywords: [
          { text: "ship", weight: 1 },
          { text: "roll out", weight: 3.5 },
        ],
        synonyms: [{ text: "launch", weight: 1 }],
        intentPatterns: ["(ship|release).*?build", "cut a release"],
        keywordExclusions: ["shipping address"],
        excludePatterns: ["dry.?run"],
        pathPatterns: ["deploy/**/*.yml"],
        pathExclusions: ["**/*.test.yml"],
        contentPatterns: ["kind: Deployment"],
        createOnly: true,
        skip: { sessionSkillUsed: true, fileMarkers: ["@no-ship"], envOverride: "NO_SHIP", sessionMarker: "ship-used" },
        agentRoles: ["releaser"],
        taskTypes: ["release"],
        alwaysActive: false,
        threshold: 0.4,
        blockMessage: "Stop.\nRead the steps first.",
      },
    ]);
  });

  it("reads a list of skills, and regular expressions where globs are usual", () => {
    const rule = only(SHAPES["list"]);
    expect(rule).toMatchObject({ skill: "Graphs", pathPatterns: [], pathRegexes: ["viz/.*", "plots/fig.*"] });
  });

  it("tells phrases from patterns in a plain list of triggers", () => {
    const rule = only(SHAPES["rules"]);
    expect(texts(rule.keywords)).toEqual(["map the code", "call graph"]);
    expect(rule.intentPatterns).toEqual(["how is .* built"]);
  });

  it("reads flat triggers with commands, intents and agents", () => {
    const rule = only(SHAPES["activation"]);
    expect(texts(rule.keywords)).toEqual(["short clip", "/clip"]);
    expect(texts(rule.synonyms)).toEqual(["publish"]);
    expect(rule).toMatchObject({ pathPatterns: ["*.mov"], agentRoles: ["editor"], priority: "low" });
  });

  it("reads a bare map, a list of words per skill, a single rule, triggers without a group", () => {
    expect(only(SHAPES["bare"])).toMatchObject({ skill: "write-docs", priority: "medium" });
    expect(texts(only(SHAPES["words"]).keywords)).toEqual(["button", "contrast"]);
    expect(only(SHAPES["single"])).toMatchObject({
      skill: "translate",
      intentPatterns: ["translate.*to"],
      pathPatterns: ["**/*.po"],
    });
    expect(only(SHAPES["flat"])).toMatchObject({
      skill: "tune",
      pathPatterns: ["*.sql"],
      contentPatterns: ["for \\("],
    });
  });

  it("reads triggers in groups named prompt and file", () => {
    const rule = only({
      skills: {
        x: { triggers: { prompt: { keywords: ["a"] }, file: { patterns: ["src/**"] } }, guidance: "Mind the gap" },
      },
    });
    expect(rule).toMatchObject({ pathPatterns: ["src/**"], blockMessage: "Mind the gap" });
    expect(texts(rule.keywords)).toEqual(["a"]);
  });

  it("joins the patterns of one skill in a bare list", () => {
    const { rules } = parse(SHAPES["patterns"]);
    expect(rules.map(({ skill, intentPatterns }) => [skill, intentPatterns])).toEqual([
      ["database", ["\\bsql\\b", "\\bindex(es)?\\b"]],
      ["pdf", ["\\bpdf\\b"]],
    ]);
  });

  it.each([
    [true, { enabled: true }],
    [false, { enabled: false }],
    [{ enabled: true }, { enabled: true }],
    [{ short_description: "Short" }, { enabled: false, shortDescription: "Short" }],
  ])("reads defer_loading %j", (value, defer) => {
    expect(only({ skills: { x: { keywords: ["a"], defer_loading: value } } }).defer).toEqual(defer);
  });

  it("leaves a rule without defer_loading without it", () => {
    expect(only(SHAPES["bare"]).defer).toBeUndefined();
  });

  it.each([
    ["critical", "critical"],
    ["normal", "medium"],
    [9, "critical"],
    [8, "high"],
    [5, "medium"],
    [1, "low"],
    [90, "critical"],
    ["7", "high"],
    ["P1", "high"],
  ])("reads priority %j as %s", (priority, expected) => {
    expect(only({ skills: { x: { keywords: ["a"], priority } } }).priority).toBe(expected);
  });

  it.each([
    ["inject", "auto"],
    ["REQUIRED", "require"],
    ["recommended", "suggest"],
    ["warning", "warn"],
    ["blocking", "block"],
  ])("reads enforcement %s as %s", (enforcement, expected) => {
    expect(only({ skills: { x: { keywords: ["a"], enforcement } } }).enforcement).toBe(expected);
  });

  it("reads thresholds it can compare, and names those it cannot", () => {
    expect(only({ skills: { x: { keywords: ["a"], threshold: 25 } } }).threshold).toBe(0.25);
    expect(only({ skills: { x: { keywords: ["a"], behaviorFlags: { minimumConfidence: 0.75 } } } }).threshold).toBe(
      0.75,
    );
    const points = parse({ skills: { x: { keywords: ["a"], triggerThreshold: 8 } } });
    expect(points.rules[0]!.threshold).toBeUndefined();
    expect(points.problems).toMatchObject([
      { level: "warning", code: "rule-value", file: FILE, where: "triggerThreshold" },
    ]);
  });

  it("applies what a file says for all its rules", () => {
    const { rules } = parse({
      defaults: { threshold: 0.3 },
      exclusions: { prefixes: ["hi", "/"], patterns: ["^ok$"] },
      directoryMappings: { "src/ui": "screens", "lib/": "library" },
      skills: { screens: { triggers: { keywords: ["screen"] } } },
    });
    expect(rules).toMatchObject([
      {
        skill: "screens",
        threshold: 0.3,
        excludePatterns: ["^ok$", "^\\s{0,20}(?:hi\\b|/)"],
        pathPatterns: ["**/src/ui/**"],
      },
      { skill: "library", pathPatterns: ["**/lib/**"] },
    ]);
  });

  it("names a JSON Schema for what it is", () => {
    const { rules, problems } = parse({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { skills: {} },
    });
    expect(rules).toEqual([]);
    expect(problems).toMatchObject([{ level: "error", code: "rules-is-schema" }]);
  });

  it("takes a $schema line for no schema", () => {
    expect(
      parse({ $schema: "https://json-schema.org/draft-07/schema#", rules: [{ skill: "x", triggers: ["a b"] }] }).rules,
    ).toHaveLength(1);
  });

  it.each([
    [null],
    [42],
    ["text"],
    [{}],
    [{ version: 1 }],
    [{ keywordMappings: { base: { testing: { keywords: ["a"] } } } }],
  ])("names an unknown shape: %j", (value) => {
    const { rules, problems } = parse(value);
    expect(rules).toEqual([]);
    expect(problems).toMatchObject([{ level: "error", code: "rules-shape-unknown", file: FILE }]);
  });

  it("names unknown keys once each, however many rules have them", () => {
    const { rules, problems } = parse({
      surprise: 1,
      skills: {
        a: { keywords: ["x"], colour: "red" },
        b: { keywords: ["y"], colour: "blue", promptTriggers: { vibes: ["z"] } },
      },
    });
    expect(rules).toHaveLength(2);
    expect(problems).toEqual([
      {
        level: "warning",
        code: "rules-key-unknown",
        file: FILE,
        where: "surprise",
        text: "unknown key beside the rules: ignored",
      },
      {
        level: "warning",
        code: "rule-key-unknown",
        file: FILE,
        where: "colour",
        text: "unknown key: ignored (2 rules, the first is “a”)",
      },
      {
        level: "warning",
        code: "rule-key-unknown",
        file: FILE,
        where: "promptTriggers.vibes",
        text: "unknown key: ignored (rule “b”)",
      },
    ]);
  });

  it("keeps the good entries beside the bad ones", () => {
    const { rules, problems } = parse({
      rules: [
        null,
        { skill: "good", keywords: ["a"] },
        { tool: "memory", keywords: ["b"] },
        { keywords: ["c"] },
        { skill: "", keywords: [] },
      ],
    });
    expect(rules.map(({ skill }) => skill)).toEqual(["good"]);
    expect(problems.map(({ code, where }) => [code, where])).toEqual([
      ["rule-invalid", "rules[0]"],
      ["rule-without-skill", "rules[2]"],
      ["rule-without-skill", "rules[3]"],
      ["rule-without-skill", "rules[4]"],
    ]);
  });

  it("skips a rule that its author switched off", () => {
    const { rules, problems } = parse({
      skills: { a: { enabled: false, keywords: ["x"] }, b: { enforcement: "off", keywords: ["x"] } },
    });
    expect(rules).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(["rule-off", "rule-off"]);
  });

  it("survives a file that is very deep or very wrong", () => {
    const deep = `${'{"promptTriggers":'.repeat(3000)}{}${"}".repeat(3000)}`;
    expect(parse(readJson(`{"skills": {"x": ${deep}}}`).value).rules).toHaveLength(1);
    const { problems } = parse({ rules: Array.from({ length: 150_000 }, () => null) });
    expect(problems).toHaveLength(201);
    expect(problems.at(-1)!.text).toBe("and 149800 more problems");
  });

  it("is not impressed by names such as __proto__ and constructor", () => {
    const { value } = readJson(
      '{"skills": {"__proto__": {"keywords": ["a"], "priority": "constructor"}, "constructor": {"keywords": ["b"], "toString": 1}}}',
    );
    const { rules } = parse(value);
    expect(rules.map(({ skill }) => skill)).toContain("constructor");
    expect(({} as Record<string, unknown>)["keywords"]).toBeUndefined();
  });
});

describe("mutated rule files", () => {
  const corpus = process.env["HAVERSACK_CORPUS"];
  const files = corpus
    ? readdirSync(join(corpus, "skill-rules")).filter((name) => name.endsWith(".json") && name !== "INDEX.json")
    : [];
  const bases: [string, unknown][] = Object.entries(SHAPES);
  for (const name of files) {
    const { value, problem } = readJson(readFileSync(join(corpus!, "skill-rules", name), "utf8"));
    if (problem === undefined) bases.push([name, value]);
  }

  it("never throw, and every problem names the file", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...bases),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        ([, base], mutations) => {
          let value: unknown = structuredClone(base);
          for (const change of mutations) value = mutate(value, change);
          const { rules, problems } = parse(value);
          for (const problem of problems) expect(problem).toMatchObject({ file: FILE, text: expect.any(String) });
          for (const rule of rules) {
            expect(rule.skill).not.toBe("");
            expect(
              [...rule.intentPatterns, ...rule.pathPatterns, ...rule.keywordExclusions].every(
                (text) => typeof text === "string",
              ),
            ).toBe(true);
            expect(rule.keywords.every(({ text, weight }) => text !== "" && weight > 0)).toBe(true);
          }
        },
      ),
      { numRuns: files.length > 0 ? 3000 : 1500 },
    );
  });

  it("never throw as broken text either", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...bases),
        fc.nat(),
        fc.nat(),
        fc.string({ maxLength: 3 }),
        ([, base], at, count, put) => {
          const text = JSON.stringify(base);
          const start = at % text.length;
          const reading = readJson(text.slice(0, start) + put + text.slice(start + (count % 20)));
          if (reading.problem === undefined) parse(reading.value);
          else expect(reading.problem).not.toBe("");
        },
      ),
      { numRuns: 1500 },
    );
  });

  // Runs only with HAVERSACK_CORPUS: the files belong to other people and are not in this repository.
  it.runIf(files.length > 0)("the corpus loads, or each file says what is wrong with it", () => {
    for (const name of files) {
      const reading = readJson(readFileSync(join(corpus!, "skill-rules", name), "utf8"));
      if (reading.problem !== undefined) {
        expect(reading.problem).toMatch(/^line \d+:\d+: /);
        continue;
      }
      const { rules, problems } = parseRules(reading.value, name);
      if (rules.length === 0) expect(problems.filter(({ level }) => level === "error")).toHaveLength(1);
      else expect(problems.filter(({ level }) => level === "error")).toEqual([]);
      expect(problems.filter(({ code }) => code.endsWith("key-unknown"))).toEqual([]);
    }
  });
});

interface Mutation {
  path: number[];
  kind: "replace" | "rename" | "remove" | "wrap";
  put: unknown;
  name: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  path: fc.array(fc.nat(40), { maxLength: 6 }),
  kind: fc.constantFrom("replace", "rename", "remove", "wrap"),
  put: fc.oneof(
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1e308,
      "",
      "(",
      "\u0000",
      [],
      {},
      [null],
      [[["x"]]],
      { value: 3 },
      { enabled: "maybe" },
    ),
    fc.jsonValue({ maxDepth: 2 }),
  ),
  name: fc.oneof(
    fc.constantFrom(
      "skills",
      "rules",
      "keywords",
      "triggers",
      "priority",
      "__proto__",
      "toString",
      "exclusions",
      "defaults",
      "agents",
      "name",
    ),
    fc.string({ maxLength: 8 }),
  ),
});

/** Walks down, choosing each child by index modulo their number, and changes the value there. */
function mutate(value: unknown, { path, kind, put, name }: Mutation): unknown {
  const [step, ...rest] = path;
  if (typeof value !== "object" || value === null || step === undefined) return kind === "wrap" ? [value] : put;
  const keys = Object.keys(value);
  if (keys.length === 0) return put;
  const key = keys[step % keys.length]!;
  const holder = value as Record<string, unknown>;
  if (rest.length > 0) holder[key] = mutate(holder[key], { path: rest, kind, put, name });
  else if (kind === "remove") delete holder[key];
  else if (kind === "rename" && !Array.isArray(value)) {
    const moved = holder[key];
    delete holder[key];
    Object.defineProperty(holder, name, { value: moved, enumerable: true, configurable: true, writable: true });
  } else holder[key] = kind === "wrap" ? { [name]: holder[key] } : put;
  return value;
}
