/** The recorded payloads that the fast tests read are still what the real client sends, field by field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { fixturesOf, mcpFixture, rolloutFixture, shapeOf } from "./payload-fixtures.ts";
import { takeTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/codex");

it("have the shapes of the real payloads", async () => {
  const tours = await takeTour();
  onTestFinished(() => {
    for (const { repo } of tours) repo.remove();
  });
  const real = new Map<string, unknown>([...fixturesOf(tours), ["mcp-server.json", mcpFixture(tours)]]);
  const kept = new Map(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith(".json"))
      .map((name) => [name, JSON.parse(readFileSync(join(FOLDER, name), "utf8"))]),
  );
  expect([...real.keys()].sort()).toEqual([...kept.keys()].sort());
  for (const [name, fixture] of kept) {
    expect(shapeOf(real.get(name)), name).toEqual(shapeOf(fixture));
    expect(real.get(name), name).toMatchObject({ envNames: fixture.envNames });
  }
  const shapes = (text: string) =>
    shapeOf(
      text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
  expect(shapes(rolloutFixture(tours[0]!))).toEqual(shapes(readFileSync(join(FOLDER, "rollout.jsonl"), "utf8")));
});
