import { describe, expect, it } from "vitest";
import { skillTerms } from "./skill-terms.ts";
import { FIELD, NAME_LENGTH } from "./tokenize.ts";

const pdf = {
  name: "pdf-forms",
  description: "Fill in PDF forms. Do not use for invoices.",
  body: "# Forms\nOpen the template and write each field.\n```\nsecretcode()\n```",
  tags: ["acrobat"],
};
const byTerm = (input: Parameters<typeof skillTerms>[0]) => new Map(skillTerms(input).map((row) => [row.term, row]));

describe("skillTerms", () => {
  it("weighs a word more the nearer it stands to the name, and says where it was seen", () => {
    const rows = byTerm(pdf);
    expect(rows.get("pdf")!.weight).toBeGreaterThan(rows.get("fill")!.weight);
    expect(rows.get("fill")!.weight).toBeGreaterThan(rows.get(".field")!.weight);
    expect(rows.get("pdf")!.fields & FIELD.name).toBeTruthy();
    expect(rows.get(".field")!.fields).toBe(FIELD.body);
    expect(rows.get("acrobat")!.fields).toBe(FIELD.description);
  });

  it("has no row for code blocks or for what the skill is not for", () => {
    const rows = byTerm(pdf);
    for (const term of ["secretcode", ".secretcode", "invoic", ".invoic"]) expect(rows.has(term)).toBe(false);
  });

  it("has a row for the whole name, without weight, and one for each group of letters", () => {
    const rows = byTerm(pdf);
    expect(rows.get("=pdfforms")).toMatchObject({ weight: 0, fields: FIELD.wholeName });
    expect(rows.get("%^for")).toMatchObject({ fields: FIELD.gram });
  });

  it("marks the words of the name with how many there are", () => {
    const lengthOf = (name: string, term: string) => 1 + (byTerm({ ...pdf, name }).get(term)!.fields >> NAME_LENGTH);
    expect(lengthOf("invoices", "invoic")).toBe(1);
    expect(lengthOf("pdf-forms", "pdf")).toBe(2);
    expect(lengthOf("fill-in-all-pdf-forms-at-once", "pdf")).toBeLessThanOrEqual(4);
  });

  it("counts a sentence that says when to use the skill more than what else it says", () => {
    const rows = byTerm({ ...pdf, description: "Reads walruses. Use when somebody brings penguins." });
    expect(rows.get("penguin")!.weight).toBeGreaterThan(rows.get("walrus")!.weight);
  });

  it("lowers no weight when an author lists more keywords", () => {
    const before = byTerm(pdf);
    const after = byTerm({ ...pdf, keywords: ["signature", "checkbox", "acroform", "xfa"] });
    for (const [term, row] of before) expect(after.get(term)!.weight).toBeGreaterThanOrEqual(row.weight);
  });

  it("gains little from repetition: 100,000 times the same word weighs less than twice what ten times does", () => {
    const weight = (times: number) => byTerm({ ...pdf, body: "walrus ".repeat(times) }).get(".walrus")!.weight;
    expect(weight(100_000)).toBeLessThan(2 * weight(10));
    expect(weight(100_000)).toBeLessThan(1);
  });

  it("reads the beginning of a very long body", () => {
    const body = Array.from({ length: 50_000 }, (_, at) => `word${at.toString(36)}`).join(" ");
    expect(skillTerms({ ...pdf, body }).length).toBeLessThan(10_000);
  });

  it("has each term once", () => {
    const rows = skillTerms({ ...pdf, body: "pdf forms pdf forms front end frontend" });
    expect(new Set(rows.map((row) => row.term)).size).toBe(rows.length);
  });
});
