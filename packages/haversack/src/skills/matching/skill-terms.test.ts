import { describe, expect, it } from "vitest";
import { SKILL_TERMS, skillTerms } from "./skill-terms.ts";
import { FIELD } from "./tokenize.ts";

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
    expect(rows.get("fill")!.weight).toBeGreaterThan(rows.get("field")!.weight);
    expect(rows.get("pdf")!.fields & FIELD.name).toBeTruthy();
    expect(rows.get("field")!.fields).toBe(FIELD.body);
    expect(rows.get("acrobat")!.fields).toBe(FIELD.description);
  });

  it("has no row for code blocks or for what the skill is not for", () => {
    const rows = byTerm(pdf);
    expect(rows.has("secretcode")).toBe(false);
    expect(rows.has("invoic")).toBe(false);
  });

  it("has a row for the whole name and one for each world, without weight", () => {
    const rows = byTerm({ ...pdf, description: "Fill in PDF forms with Python." });
    expect(rows.get("=pdfforms")).toMatchObject({ weight: 0, fields: FIELD.wholeName });
    expect(rows.get("~language:python")).toMatchObject({ weight: 0, fields: FIELD.world });
  });

  it("marks the word that is the whole name", () => {
    expect(byTerm({ ...pdf, name: "invoices" }).get("invoic")!.fields & FIELD.onlyName).toBeTruthy();
    expect(byTerm(pdf).get("pdf")!.fields & FIELD.onlyName).toBe(0);
  });

  it("lowers no weight when an author lists more keywords", () => {
    const before = byTerm(pdf);
    const after = byTerm({ ...pdf, keywords: ["signature", "checkbox", "acroform", "xfa"] });
    for (const [term, row] of before) expect(after.get(term)!.weight).toBeGreaterThanOrEqual(row.weight);
  });

  it("keeps the number of rows within bounds for a very long body", () => {
    const body = Array.from({ length: 50_000 }, (_, at) => `word${at.toString(36)}`).join(" ");
    expect(skillTerms({ ...pdf, body }).length).toBeLessThanOrEqual(SKILL_TERMS.maxTerms + 10);
  });

  it("has each term once", () => {
    const rows = skillTerms({ ...pdf, body: "pdf forms pdf forms front end frontend" });
    expect(new Set(rows.map((row) => row.term)).size).toBe(rows.length);
  });
});
