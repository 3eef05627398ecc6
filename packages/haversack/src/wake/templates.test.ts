import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_TEMPLATES, parseTemplate, renderTemplate, templateFor } from "./templates.ts";

const render = (text: string, values: Record<string, string>) =>
  renderTemplate(parseTemplate(text, "x"), { textOf: (slot) => values[slot] ?? "", hasOwn: () => true }).join("\n\n");

describe("renderTemplate", () => {
  it("leaves out a section whose parts are all empty, with its heading", () => {
    const text = "# Title\n{{identity}}\n\n## Plan\n{{plan}}\n\n## Work\n{{wip}}\n{{handoffs}}\n";
    expect(render(text, { identity: "You", handoffs: "- done" })).toBe("# Title\nYou\n\n## Work\n- done");
  });

  it("keeps the project's own sections and text around a part", () => {
    expect(render("## Rules\nBe kind.\n\n## Next\nDo: {{ next_action }} now.", { next_action: "x" })).toBe(
      "## Rules\nBe kind.\n\n## Next\nDo: x now.",
    );
  });

  it("does not look for placeholders or patterns in what it puts in", () => {
    expect(render("{{task}} {{wip}}", { task: "{{wip}} $& $1", wip: "w" })).toBe("{{wip}} $& $1 w");
  });

  it("fills what stands in more braces than it takes", () => {
    expect(render("{{{task}}} {{{{wip}}}} {{x {{plan}}", { task: "t", wip: "w", plan: "p" })).toBe("{t} {{w}} {{x p");
  });

  it("does not take a # in a code fence for a heading", () => {
    expect(render("## A\n```\n# {{plan}}\n```\n{{task}}", { task: "t" })).toBe("## A\n```\n# ```\nt");
  });
});

describe("templateFor", () => {
  it("names unknown placeholders and makes nothing of them", () => {
    const { problems } = templateFor("fixer", "{{wpi}} {{wip}} {{a b}}");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^template fixer\.md: unknown \{\{wpi\}\}, \{\{a b\}\}; known are identity, /);
    expect(render("{{wpi}}{{wip}}", { wip: "w" })).toBe("w");
  });

  it("leaves out the heading of what nothing knows", () => {
    expect(render("# T\n{{identity}}\n\n## Plan\n{{plans}}\n\n## Next\n{{task}}", { identity: "You", task: "t" })).toBe(
      "# T\nYou\n\n## Next\nt",
    );
  });

  it("takes the shipped one when nothing that a project's names is known, and says so", () => {
    const { sections, problems } = templateFor("fixer", "# Mine\n{{taks}}\n{{next}}");
    expect(sections[0]?.text).toContain("# Fixer Subagent");
    expect(problems[0]).toContain("unknown {{taks}}, {{next}}");
    expect(templateFor("fixer", "Only words.").sections).toEqual([{ text: "Only words.", placeholders: [] }]);
  });

  it("falls back to the shipped one", () => {
    expect(templateFor("fixer", "  \n").sections[0]?.text).toContain("# Fixer Subagent");
    expect(templateFor("release-captain").sections[0]?.text).toContain("# Wake-up Context");
    expect(templateFor("constructor").sections[0]?.text).toContain("# Wake-up Context");
  });

  it.each(Object.keys(DEFAULT_TEMPLATES))("the shipped one for %s is whole", (role) => {
    const { problems, placeholders } = templateFor(role);
    expect(problems).toEqual([]);
    for (const slot of ["identity", "skill", "task", "wip", "messages", "next_action", "missing"] as const) {
      expect(placeholders).toContain(slot);
    }
  });
});

it("reads a template the same with spaces between the braces", () => {
  const piece = fc.constantFrom("{", "}", "{{", "}}", "{{task}}", "{{wip}}", "{{x}}", "task", " ", "\n", "# A\n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      // With the spaces, the parser takes the slow path.
      const spaced = text.replace(/\{\{(task|wip)\}\}/g, "{{ $1 }}");
      expect(parseTemplate(text, "x")).toEqual(parseTemplate(spaced, "x"));
    }),
    { numRuns: 2_000 },
  );
});
