import { describe, expect, it } from "vitest";
import { briefOfSkill, withoutLeadIn } from "./short-description.ts";

describe("withoutLeadIn", () => {
  it.each([
    ["Use this skill when the user wants to build forms in React", "build forms in React"],
    ["Use when creating or debugging pipelines", "creating or debugging pipelines"],
    ["When the user wants help with pricing decisions. Also use for plans.", "pricing decisions. Also use for plans."],
    ["Use this skill to read PDF files", "read PDF files"],
    ["This skill should be used when the user asks about message queues", "message queues"],
    ["Comprehensive guide for writing Terraform tests", "writing Terraform tests"],
    ["Provides a guide for setting up Go projects", "setting up Go projects"],
    ["Always invoke for changes of the schema", "changes of the schema"],
  ])("“%s” starts with its subject", (description, expected) => {
    expect(withoutLeadIn(description)).toBe(expected);
  });

  it.each([
    // A condition is not a lead-in: without "when" it would be no phrase.
    ["Use when an endpoint must report errors", "when an endpoint must report errors"],
    // Too little would be left.
    ["Use when testing", "Use when testing"],
    ["Use this skill.", "Use this skill."],
    ["Deploy services with Helm. Use when deploying.", "Deploy services with Helm. Use when deploying."],
    ["Users of the API get an answer", "Users of the API get an answer"],
  ])("“%s” keeps what it needs", (description, expected) => {
    expect(withoutLeadIn(description)).toBe(expected);
  });

  it.each([
    ["Do not use this skill for gas boilers. Use it when bleeding radiators.", "bleeding radiators."],
    ["Use this skill whenever you need to. Covers plumbing leaks.", "Covers plumbing leaks."],
    ["Do not use this.", "Do not use this."],
  ])("the line for “%s” says what the skill is for", (description, expected) => {
    expect(briefOfSkill({ description })).toBe(expected);
  });

  it("a short description stays as its author wrote it", () => {
    expect(briefOfSkill({ shortDescription: "Use when testing it all", description: "Guide for tests" })).toBe(
      "Use when testing it all",
    );
  });
});
