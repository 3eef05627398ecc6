/** The recorded payloads that the fast tests read are still what the real client sends, field by field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { shapeOf } from "../claude-code/payload-fixtures.ts";
import { fixturesOf } from "./payload-fixtures.ts";
import { takeOpencodeTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/opencode");

it("have the shapes of the real payloads", async () => {
  const tour = await takeOpencodeTour();
  onTestFinished(() => tour.repo.remove());
  const real = fixturesOf(tour);
  const kept = new Map(readdirSync(FOLDER).map((name) => [name, JSON.parse(readFileSync(join(FOLDER, name), "utf8"))]));
  expect([...real.keys()].sort()).toEqual([...kept.keys()].sort());
  for (const [name, fixture] of kept) expect(shapeOf(real.get(name)), name).toEqual(shapeOf(fixture));
});
