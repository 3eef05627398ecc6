import { describe, expect, it } from "vitest";
import { sentenceFor, wordGap } from "./evaluate-advice.ts";
import { skillTerms } from "./matching/skill-terms.ts";

const termsOf = (description: string, body = "") =>
  new Set(skillTerms({ name: "pod-restart", description, body, tags: [] }).map(({ term }) => term));

describe("wordGap", () => {
  it("names the words that no part of the skill has, and those that only its body has", () => {
    const terms = termsOf("Restarts pods of a kubernetes cluster.", "Look at the rollout before you go on.");
    expect(wordGap("restart the pods after a rollout of the helm chart", terms)).toEqual({
      missing: ["helm", "chart"],
      bodyOnly: ["rollout"],
    });
  });

  it("takes inflected and misspelled words for what was meant", () => {
    const terms = termsOf("Restarts pods of a kubernetes cluster.");
    expect(wordGap("restarting the kuberntes clusters", terms)).toEqual({ missing: [], bodyOnly: [] });
  });
});

describe("sentenceFor", () => {
  const shares: Record<string, number> = { file: 0.2, chart: 0.01 };
  const shareOf = (word: string) => shares[word] ?? 0;

  it("takes the rarest words in the order of the prompt, without everyday ones", () => {
    const gap = { missing: ["file", "chart", "helm"], bodyOnly: ["rollout"] };
    expect(sentenceFor(gap, shareOf)).toBe("Use for requests about chart, helm or rollout.");
  });

  it("has nothing to say when only everyday words and numbers are missing", () => {
    expect(sentenceFor({ missing: ["file", "100k", "v2"], bodyOnly: [] }, shareOf)).toBeUndefined();
  });

  it("takes at most five words", () => {
    const missing = ["one", "two", "three", "four", "five", "sixth"];
    expect(sentenceFor({ missing, bodyOnly: [] }, shareOf)).toBe(
      "Use for requests about one, two, three, four or five.",
    );
  });
});
