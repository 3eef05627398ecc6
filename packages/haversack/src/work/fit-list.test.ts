import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadCounter } from "../tokens/count.ts";
import { fitList } from "./fit-list.ts";
import type { FieldSet, View } from "./task-view.ts";

interface Item {
  id: string;
  text: string;
}

const view = ({ id, text }: Item, fields: FieldSet): View => (fields === "minimal" ? { id } : { id, text });
const items = (count: number, text = "some words here") =>
  Array.from({ length: count }, (_, at) => ({ id: `T${at}`, text }));

describe("fitList", () => {
  it("gives all where no ceiling is set, and where all fit", () => {
    expect(fitList(items(100), { view, fields: "full" }).views).toHaveLength(100);
    expect(fitList(items(3), { view, fields: "full", maxTokens: 500 })).toEqual({
      views: items(3),
      isReduced: false,
    });
  });

  it("leaves out whole views from the end", () => {
    const { views, isReduced } = fitList(items(100), { view, fields: "full", maxTokens: 200 });
    expect(views.length).toBeGreaterThan(3);
    expect(views.length).toBeLessThan(30);
    expect(views).toEqual(items(views.length));
    expect(isReduced).toBe(false);
  });

  it("shrinks the first when nothing fits, and gives nothing when that is too long as well", () => {
    const long = items(2, "word ".repeat(1000));
    expect(fitList(long, { view, fields: "full", maxTokens: 60 })).toMatchObject({
      views: [{ id: "T0" }],
      isReduced: true,
    });
    expect(fitList(long, { view, fields: "full", maxTokens: 3 })).toMatchObject({ views: [], isReduced: false });
  });

  it("names ceilings that would do", () => {
    for (const fields of ["minimal", "full"] as const) {
      const { cut } = fitList(items(40), { view, fields, maxTokens: 20 });
      const fit = (maxTokens = 0) => fitList(items(40), { view, fields, maxTokens });
      expect(fit(cut?.allTokens).views).toHaveLength(40);
      expect(fit(cut?.allTokens).cut).toBeUndefined();
      expect(fit(cut?.firstTokens)).toMatchObject({ views: [view(items(1)[0]!, fields)], isReduced: false });
    }
  });

  it("stays below the ceiling in exact tokens, with what stands around the list", async () => {
    const count = await loadCounter();
    const texts = fc.array(
      fc.oneof(fc.lorem(), fc.string(), fc.constantFrom("日本語のテキスト", "Größe übernehmen 🎉")),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 40, max: 600 }), (given, maxTokens) => {
        const list = given.map((text, at) => ({ id: `T48291357720${at}`, text }));
        const { views } = fitList(list, { view, fields: "full", maxTokens });
        const answer = { tasks: views, left_out: list.length - views.length, more: "offset: 50" };
        expect(count(JSON.stringify(answer))).toBeLessThanOrEqual(maxTokens);
      }),
    );
  });
});
