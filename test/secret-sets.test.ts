/** The published sets of secrets and lookalikes: the result of `npm run bench secrets`, as a test. */
import { describe, expect, it } from "vitest";
import { isMasked, lookAlikes, secretSamples } from "../bench/secret-sets.ts";
import { maskSecrets } from "../packages/haversack/src/base/mask.ts";

const SEEDS = [1, 2, 3, 4, 5];

describe("the set of secrets", () => {
  const samples = SEEDS.flatMap(secretSamples);

  it("holds at least 80 kinds", () => {
    expect(new Set(samples.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(80);
    expect(samples.every(({ secrets }) => secrets.length > 0)).toBe(true);
  });

  it("is masked to at least 97 %, and no kind is missed", () => {
    const missed = samples.filter((sample) => !isMasked(sample, maskSecrets(sample.text)));
    expect(missed.length / samples.length, missed.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(0.03);
    const kinds = Map.groupBy(samples, ({ kind }) => kind);
    for (const [kind, all] of kinds) {
      expect(all.filter((sample) => missed.includes(sample)).length, kind).toBeLessThan(all.length / 2);
    }
  });

  it("is masked the same inside JSON, in one line", () => {
    const missed = samples.filter((sample) => {
      const secrets = sample.secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
      return !isMasked({ ...sample, secrets }, maskSecrets(JSON.stringify({ output: `$ run\n${sample.text}\nok` })));
    });
    expect(missed.length / samples.length, missed.map(({ text }) => text).join("\n")).toBeLessThanOrEqual(0.03);
  });

  it("stays masked", () => {
    for (const { text } of samples) {
      const once = maskSecrets(text);
      expect(maskSecrets(once)).toBe(once);
    }
  });
});

describe("the set of look-alikes", () => {
  const texts = SEEDS.flatMap(lookAlikes);

  it("holds at least 70", () => {
    expect(texts.length / SEEDS.length).toBeGreaterThanOrEqual(70);
  });

  it("is not touched", () => {
    expect(texts.map(({ text }) => maskSecrets(text))).toEqual(texts.map(({ text }) => text));
  });
});
