import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "./estimate.ts";
import { type FitOptions, type Fitted, type Form, fit, type Part } from "./fit.ts";

const characters = (text: string) => text.length;

const guide: Part = { key: "guide", rank: 1, full: "G".repeat(40), short: "G".repeat(10), name: "G" };
const plan: Part = { key: "plan", rank: 2, full: "P".repeat(30), short: "P".repeat(8), name: "P" };
const notes: Part = { key: "notes", rank: 3, full: "N".repeat(20), how: "haversack notes" };

function forms({ included }: Fitted): Record<string, Form> {
  return Object.fromEntries(included.map(({ key, form }) => [key, form]));
}

describe("fit", () => {
  it("shows everything in full when it fits, and pads nothing", () => {
    const result = fit([guide, plan], { budget: 1_000, count: characters });
    expect(result.text).toBe(`${guide.full}\n\n${plan.full}`);
    expect(result).toMatchObject({ used: 72, budget: 1_000, leftOut: [] });
  });

  it("counts the separators: one unit short and the last part gives way", () => {
    expect(forms(fit([guide, plan], { budget: 72, count: characters }))).toEqual({ guide: "full", plan: "full" });
    expect(forms(fit([guide, plan], { budget: 71, count: characters }))).toEqual({ guide: "full", plan: "short" });
  });

  it("reduces the less important first, and lets small ones use what is left", () => {
    const result = fit([notes, plan, guide], { budget: 45, count: characters });
    expect(forms(result)).toEqual({ guide: "full", plan: "name" });
    expect(result.leftOut).toEqual([{ key: "notes", reason: "over-budget", how: "haversack notes" }]);
  });

  it("puts the parts in their own order, whatever their rank", () => {
    const result = fit([guide, { ...plan, order: 0 }], { budget: 100, count: characters });
    expect(result.included.map(({ key }) => key)).toEqual(["plan", "guide"]);
  });

  it("lists a part without text as empty, and not in the footer", () => {
    const result = fit([guide, { key: "void", rank: 0, full: "", short: "" }], {
      budget: 100,
      count: characters,
      footer: true,
    });
    expect(result.leftOut).toEqual([{ key: "void", reason: "empty" }]);
    expect(result.text).toBe(guide.full);
  });

  it("uses the short form of a part whose full form is empty", () => {
    expect(forms(fit([{ key: "a", rank: 0, full: "", short: "x" }], { budget: 5, count: characters }))).toEqual({
      a: "short",
    });
  });

  it.each([0, -5, Number.NaN])("gives nothing for a budget of %s", (budget) => {
    const result = fit([guide, notes], { budget, count: characters, footer: true });
    expect(result).toMatchObject({ text: "", used: 0, included: [] });
    expect(result.leftOut.map(({ key }) => key)).toEqual(["guide", "notes"]);
  });

  it("takes no parts", () => {
    expect(fit([], { budget: 10, count: characters, footer: true })).toMatchObject({ text: "", used: 0, leftOut: [] });
  });

  describe("footer", () => {
    const big: Part = { key: "big", rank: 9, full: "B".repeat(500), how: "haversack show big" };

    it("says what was left out and how to get it", () => {
      const result = fit([guide, big], { budget: 200, count: characters, footer: true });
      expect(result.text).toBe(`${guide.full}\n\nLeft out: big (haversack show big)`);
    });

    it("shrinks with the budget, down to a number, and is inside it", () => {
      const lastLine = (budget: number) =>
        fit([guide, big], { budget, count: characters, footer: true }).text.split("\n").at(-1);
      expect(lastLine(80)).toBe("Left out: big");
      expect(lastLine(56)).toBe("1 left out");
      expect(lastLine(43)).toBe(guide.full);
    });

    it("names the part that had to go for the footer's sake", () => {
      const tail: Part = { key: "tail", rank: 8, full: "T".repeat(100) };
      const result = fit([guide, tail, big], { budget: 150, count: characters, footer: true });
      expect(result.leftOut.map(({ key }) => key)).toEqual(["tail", "big"]);
      expect(result.text).toContain("Left out: tail, big");
    });

    it("is absent when nothing was left out", () => {
      expect(fit([guide], { budget: 200, count: characters, footer: true }).text).toBe(guide.full);
    });
  });

  it("reduces further when the join costs more than its pieces", () => {
    const joinIsDear = (text: string) =>
      text.length + 10 * (text.split("\n\n").length - 1) - (text === "\n\n" ? 10 : 0);
    const result = fit([guide, plan], { budget: 72, count: joinIsDear });
    expect(forms(result)).toEqual({ guide: "full", plan: "short" });
    expect(result.used).toBe(60);
  });

  it("improves the most important reduced part when the join costs less than its pieces", () => {
    const roundedUp = (text: string) => Math.ceil(text.length / 10);
    const part = (key: string, rank: number): Part => ({ key, rank, full: "x".repeat(11), short: "y" });
    // The sum is 2 + 1 + 1 plus a separator each; the joined text of two full parts has 24 characters, which count as 3.
    const result = fit([part("a", 1), part("b", 2)], { budget: 4, count: roundedUp });
    expect(forms(result)).toEqual({ a: "full", b: "full" });
    expect(result.used).toBe(3);
  });
});

const anyText = fc.string({ maxLength: 60, unit: fc.constantFrom("a", "Z", "7", ".", " ", "\n", "字", "🙂") });
const anyParts: fc.Arbitrary<Part[]> = fc
  .array(
    fc.record({
      rank: fc.integer({ min: 0, max: 5 }),
      full: anyText,
      short: fc.option(anyText, { nil: undefined }),
      name: fc.option(anyText, { nil: undefined }),
      order: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
      how: fc.option(anyText, { nil: undefined }),
    }),
    { maxLength: 9 },
  )
  .map((parts) => parts.map((part, index) => ({ ...part, key: `part-${index}` })));
const anyBudget = fc.integer({ min: 0, max: 300 });
const anySeparator = fc.constantFrom("\n\n", "\n", "", " --- ");

/** From additive to hostile: one rounds per call, one adds a charge per call, and one ignores its text. */
const anyCount = fc.constantFrom<(text: string) => number>(
  characters,
  estimateTokens,
  (text) => Math.ceil(text.length / 7),
  (text) => text.length + 13,
  (text) => text.length * text.length,
  (text) => (text.length % 3) * 50,
);

describe("fit, for any input", () => {
  it("is never over budget, whatever the count, is deterministic, and accounts for every part", () => {
    fc.assert(
      fc.property(
        anyParts,
        anyBudget,
        anyCount,
        anySeparator,
        fc.boolean(),
        (parts, budget, count, separator, footer) => {
          const options: FitOptions = { budget, count, separator, footer };
          const result = fit(parts, options);
          expect(result.used).toBeLessThanOrEqual(budget);
          expect(result.used).toBe(result.text === "" ? 0 : count(result.text));
          expect(fit(parts, options)).toEqual(result);
          const keys = [...result.included, ...result.leftOut].map(({ key }) => key).sort();
          expect(keys).toEqual(parts.map(({ key }) => key).sort());
        },
      ),
      { numRuns: 500 },
    );
  });

  it("shows all in full if and only if that fits", () => {
    fc.assert(
      fc.property(anyParts, anyBudget, anySeparator, fc.boolean(), (parts, budget, separator, footer) => {
        const filled = parts.map((part) => ({ ...part, full: `${part.full}.` }));
        const whole = filled.map(({ full }) => full).join(separator).length;
        const allFull = fit(filled, { budget, count: characters, separator, footer }).included.filter(
          ({ form }) => form === "full",
        );
        expect(allFull.length === filled.length).toBe(whole <= budget);
      }),
    );
  });

  it("never leaves a part out while a less important one is in full that is as large as its smallest form", () => {
    fc.assert(
      fc.property(anyParts, anyBudget, anySeparator, fc.boolean(), (parts, budget, separator, footer) => {
        const result = fit(parts, { budget, count: characters, separator, footer });
        const inFull = new Set(result.included.filter(({ form }) => form === "full").map(({ key }) => key));
        const byKey = new Map(parts.map((part) => [part.key, part]));
        for (const { key, reason } of result.leftOut) {
          if (reason === "empty") continue;
          const missed = byKey.get(key)!;
          const smallest = Math.min(
            ...[missed.full, missed.short, missed.name].flatMap((text) => (text ? text.length : [])),
          );
          const crowdedOut = parts.filter(
            (part) => inFull.has(part.key) && part.rank > missed.rank && part.full.length >= smallest,
          );
          expect(crowdedOut).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("never gives a worse result for a larger budget, read from the most important part down", () => {
    const value = { full: 3, short: 2, name: 1 };
    fc.assert(
      fc.property(
        anyParts,
        anyBudget,
        fc.integer({ min: 0, max: 60 }),
        anySeparator,
        (parts, budget, more, separator) => {
          const ranked = parts
            .map((part, index) => ({ ...part, index }))
            .sort((a, b) => a.rank - b.rank || a.index - b.index);
          const quality = (allowed: number) => {
            const got = forms(fit(parts, { budget: allowed, count: characters, separator }));
            return ranked.map(({ key }) => (got[key] ? value[got[key]] : 0));
          };
          const small = quality(budget);
          const large = quality(budget + more);
          const changed = small.findIndex((quality, index) => quality !== large[index]);
          if (changed >= 0) expect(large[changed]).toBeGreaterThan(small[changed]!);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("fit with tiers, groups and a frame of one's own", () => {
  const part = (key: string, rank: number, over: Partial<Part> = {}): Part => ({
    key,
    rank,
    full: key.repeat(20),
    short: key.repeat(5),
    ...over,
  });

  it("makes all of a tier small before one of them is large", () => {
    const alone = [part("a", 1), part("b", 2), part("c", 3)];
    expect(forms(fit(alone, { budget: 36, count: characters }))).toEqual({ a: "full", b: "short", c: "short" });
    expect(forms(fit(alone, { budget: 30, count: characters }))).toEqual({ a: "full", b: "short" });
    const peers = alone.map((each) => ({ ...each, tier: 1 }));
    expect(forms(fit(peers, { budget: 30, count: characters }))).toEqual({ a: "short", b: "short", c: "short" });
    expect(forms(fit(peers, { budget: 36, count: characters }))).toEqual({ a: "full", b: "short", c: "short" });
  });

  it("gives groups their shares of what is left, and what one does not use to the next", () => {
    const separator = "";
    const long = (key: string, group: string, rank: number) =>
      Array.from({ length: 30 }, (_, index) =>
        part(`${key}${index}`, rank, { full: key.repeat(4), short: undefined, group }),
      );
    const head = part("h", 0, { full: "h".repeat(20) });
    const shares = { plan: 0.25, work: 0.75 };
    const used = (text: string, key: string) => text.split(key).length - 1;
    const both = fit([head, ...long("w", "work", 1), ...long("p", "plan", 2)], {
      budget: 100,
      count: characters,
      separator,
      shares,
    });
    expect([used(both.text, "h"), used(both.text, "p"), used(both.text, "w")]).toEqual([20, 20, 60]);
    const few = [head, ...long("w", "work", 1), ...long("p", "plan", 2).slice(0, 1)];
    const flowed = fit(few, { budget: 100, count: characters, separator, shares });
    expect([used(flowed.text, "p"), used(flowed.text, "w")]).toEqual([4, 76]);
    const back = fit([head, ...long("w", "work", 1).slice(0, 1), ...long("p", "plan", 2)], {
      budget: 100,
      count: characters,
      separator,
      shares,
    });
    expect([used(back.text, "w"), used(back.text, "p")]).toEqual([4, 76]);
  });

  it("lets the caller make the text, and is never over the budget whatever that adds", () => {
    const assemble: FitOptions["assemble"] = (chosen, footer) =>
      chosen.length === 0
        ? ""
        : `<<${chosen.map(({ key, form }) => `${key}:${form}`).join(" ")}>>${footer ?? ""}`.padEnd(40, ".");
    const parts = [part("a", 1), part("b", 2)];
    expect(fit(parts, { budget: 60, count: characters, assemble, overhead: 10 }).text).toMatch(
      /^<<a:full b:full>>\.+$/,
    );
    fc.assert(
      fc.property(fc.nat(100), fc.nat(50), (budget, overhead) => {
        expect(
          fit(parts, { budget, count: characters, assemble, overhead, footer: true }).text.length,
        ).toBeLessThanOrEqual(budget);
      }),
    );
  });

  it("takes lines of one's own for what is left out or smaller", () => {
    const footer: FitOptions["footer"] = [
      (missing, reduced) => `without ${missing.map(({ key }) => key)}; small ${reduced}; ${"x".repeat(40)}`,
      (missing, reduced) => `-${missing.map(({ key }) => key)}/${reduced}`,
    ];
    const parts = [part("a", 1), part("b", 2), part("c", 3, { short: undefined })];
    expect(fit(parts, { budget: 40, count: characters, footer }).text).toMatch(/\n\n-c\/b$/);
  });
});
