import { describe, expect, it } from "vitest";
import type { Match } from "../matching/match-skills.ts";
import type { CompiledRule, SkillCard } from "../types.ts";
import { type DisclosureSettings, decideDisclosure, type LedgerEntry, type SessionStatus } from "./disclosure.ts";

const settings: DisclosureSettings = {
  maxSkills: 3,
  recommendThreshold: 0.4,
  autoLoadThreshold: 0.6,
  autoLoad: "asked",
  enforce: false,
  forgetAfterPrompts: 100,
};

function match(
  id: string,
  more: Omit<Partial<Match>, "card"> & { card?: Partial<SkillCard>; rule?: Partial<CompiledRule> } = {},
): Match {
  const { card, rule, ...rest } = more;
  return {
    confidence: 0.7,
    named: false,
    reasons: [],
    parts: { keyword: 0, synonym: 0, intent: 0, file: 0, context: 0, score: 0 },
    ...rest,
    card: { key: 1, id, hash: "h1", sourceKind: "project", ...(rule && { rule }), ...card } as SkillCard,
  };
}

function decide(
  matches: Match[],
  more: {
    ledger?: LedgerEntry[];
    status?: SessionStatus;
    isExplicit?: boolean;
    isForced?: boolean;
    promptNumber?: number;
    settings?: Partial<DisclosureSettings>;
  } = {},
) {
  const decision = decideDisclosure(matches, {
    ledger: more.ledger ?? [],
    status: more.status ?? "continue",
    isExplicit: more.isExplicit ?? false,
    isForced: more.isForced ?? false,
    promptNumber: more.promptNumber ?? 5,
    settings: { ...settings, ...more.settings },
  });
  const ids = (list: readonly Match[]) => list.map(({ card }) => card.id);
  return {
    format: decision.format,
    fresh: ids(decision.fresh),
    names: ids(decision.names),
    known: ids(decision.known),
    loaded: decision.autoLoad.map(({ match: { card }, because }) => `${card.id}: ${because}`),
    verdicts: Object.fromEntries(decision.verdicts),
  };
}

describe("decideDisclosure", () => {
  it("is silent without matches, and about what is excluded or below the threshold", () => {
    expect(decide([])).toMatchObject({ format: "none" });
    const { format, verdicts } = decide([match("a", { excluded: "it says so" }), match("b", { confidence: 0.02 })]);
    expect(format).toBe("none");
    expect(verdicts).toEqual({ a: "left out: it says so", b: "below 0.03, the threshold for a name" });
  });

  it("says which limit kept a skill out: the one for names, or their number", () => {
    const many = ["a", "b", "c", "d", "e", "f"].map((id) => match(id, { confidence: 0.1 }));
    const { verdicts } = decide([...many, match("g", { confidence: 0.02 })]);
    expect(verdicts).toMatchObject({
      e: "shown by name",
      f: "left out: at most 5 names a prompt",
      g: "below 0.03, the threshold for a name",
    });
    const weak = ["b", "c"].map((id) => match(id, { confidence: 0.05 }));
    const beside = decide([match("a", { confidence: 0.9 }), ...weak]);
    expect(beside).toMatchObject({
      fresh: ["a"],
      names: ["b"],
      verdicts: { c: "left out: another skill is far more likely" },
    });
    const asked = decide([match("a", { confidence: 0.02 })], { isExplicit: true });
    expect(asked.verdicts).toEqual({ a: "below 0.03, the threshold when asked for skills" });
  });

  it("shows the best three where it is sure of none, and two where it is, unless nearly nothing speaks for them", () => {
    const faint = (confidence: number) => match(String(confidence), { confidence });
    expect(decide([match("a", { confidence: 0.2 }), faint(0.02), faint(0.01), faint(0.01)]).names).toEqual([
      "a",
      "0.02",
      "0.01",
    ]);
    expect(decide([match("a", { confidence: 0.2 }), faint(0.009)]).names).toEqual(["a"]);
    expect(decide([match("a", { confidence: 0.9 }), faint(0.02), faint(0.01)]).names).toEqual(["0.02"]);
    expect(decide([faint(0.029), faint(0.02)]).format).toBe("none");
  });

  it("takes a rule's own threshold over the setting", () => {
    expect(decide([match("a", { confidence: 0.3, rule: { threshold: 0.2 } })]).fresh).toEqual(["a"]);
    expect(decide([match("a", { confidence: 0.8, rule: { threshold: 0.9 } })]).fresh).toEqual([]);
  });

  it("shows at most maxSkills cards and five names, the best first, and says so of the others", () => {
    const { fresh, names, verdicts } = decide([..."abcdefghi"].map((id) => match(id)));
    expect(fresh).toEqual(["a", "b", "c"]);
    expect(names).toEqual(["d", "e", "f", "g", "h"]);
    expect(verdicts).toMatchObject({ d: "shown by name", i: "left out: at most 3 a prompt" });
  });

  it("names a candidate once per window, and gives it a card when it becomes probable", () => {
    const faint = match("a", { confidence: 0.2 });
    expect(decide([faint])).toMatchObject({ format: "names", fresh: [], names: ["a"] });
    const ledger = [{ skill: "a", shownAtPrompt: 4, isNamedOnly: true }];
    expect(decide([faint], { ledger })).toMatchObject({ format: "none", names: [] });
    expect(decide([match("a")], { ledger })).toMatchObject({ format: "full", fresh: ["a"] });
  });

  it("leaves candidates out where the window has a card of a better one", () => {
    const ledger = [{ skill: "a", shownAtPrompt: 4 }];
    const found = decide([match("a"), match("b", { confidence: 0.2 })], { ledger });
    expect(found).toMatchObject({ format: "none", names: [] });
    expect(found.verdicts["b"]).toContain("a card of a better one");
  });

  it.each([
    ["new", [], "full", ["a", "b"], []],
    ["continue", ["a"], "incremental", ["b"], ["a"]],
    ["domain-switch", ["a"], "full", ["b"], []],
    ["continue", ["a", "b"], "none", [], []],
    ["domain-switch", ["a", "b"], "none", [], []],
    ["idle", ["a", "b"], "full", ["a", "b"], []],
  ] as const)("%s with %j known: %s", (status, known, format, fresh, named) => {
    const ledger = known.map((skill) => ({ skill, shownAtPrompt: 1 }));
    expect(decide([match("a"), match("b")], { status, ledger })).toMatchObject({ format, fresh, known: named });
  });

  it("never mentions again what the window has, however many prompts later", () => {
    const ledger = [{ skill: "a", shownAtPrompt: 1 }];
    for (let promptNumber = 2; promptNumber <= 100; promptNumber++) {
      expect(decide([match("a")], { ledger, promptNumber })).toMatchObject({ format: "none", known: [] });
    }
  });

  it("answers a request for skills by name for what the window has, loaded or not", () => {
    const ledger = [
      { skill: "a", shownAtPrompt: 1 },
      { skill: "b", shownAtPrompt: 1, loadedHash: "h1" },
    ];
    const asked = { ledger, isExplicit: true };
    expect(decide([match("a"), match("b")], asked)).toMatchObject({ format: "names", fresh: [], known: ["a", "b"] });
    expect(decide([match("a"), match("c")], asked)).toMatchObject({
      format: "incremental",
      fresh: ["c"],
      known: ["a"],
    });
    expect(decide([match("a")], { ...asked, isForced: true })).toMatchObject({ format: "full", fresh: ["a"] });
  });

  it("gives a request for skills what fits, sure or not, but no body for a guess", () => {
    const found = decide([match("a"), match("b", { confidence: 0.1, rule: { enforcement: "auto" } })], {
      isExplicit: true,
    });
    expect(found).toMatchObject({ format: "full", fresh: ["a", "b"], loaded: [] });
  });

  it("loads a body for a name, for auto, and nothing else unless asked to", () => {
    const matches = [
      match("a", { named: true }),
      match("b", { rule: { enforcement: "auto" } }),
      match("c", { confidence: 0.95, rule: { enforcement: "block" } }),
    ];
    expect(decide(matches).loaded).toEqual(["a: the prompt names it", "b: its rule says auto"]);
    expect(decide(matches, { settings: { enforce: true } }).loaded).toContain("c: its rule says block");
    expect(decide(matches, { settings: { autoLoad: "confident" } }).loaded).toContain("c: confidence 0.95");
  });

  it("takes the skill's own confidence over the setting", () => {
    const found = decide(
      [
        match("a", { confidence: 0.7, card: { loadConfidence: 0.8 } }),
        match("b", { confidence: 0.5, card: { loadConfidence: 0.45 } }),
      ],
      {
        settings: { autoLoad: "confident" },
      },
    );
    expect(found).toMatchObject({ loaded: ["b: confidence 0.50"], fresh: ["a"] });
  });

  it("is silent about a loaded body, and loads a changed one that is named again", () => {
    const ledger = [{ skill: "a", shownAtPrompt: 1, loadedHash: "h1" }];
    expect(decide([match("a", { named: true })], { ledger }).verdicts).toEqual({
      a: "silent: the window has its body",
    });
    expect(decide([match("a", { named: true, card: { hash: "h2" } })], { ledger }).loaded).toEqual([
      "a: the prompt names it",
    ]);
  });

  it("recommends a skill that only a rule names, whatever the rule enforces", () => {
    expect(
      decide([match("a", { named: true, rule: { enforcement: "auto" }, card: { sourceKind: "rule" } })]),
    ).toMatchObject({ fresh: ["a"], loaded: [] });
  });
});
