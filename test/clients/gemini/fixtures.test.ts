/** The recorded payloads that the fast tests read are still what the real client sends, field by field. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readGeminiCompaction, readGeminiFill } from "../../../packages/haversack/src/clients/gemini/transcript.ts";
import { shapeOf } from "../claude-code/payload-fixtures.ts";
import { fixturesOf, mcpFixture } from "./payload-fixtures.ts";
import { takeGeminiTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/gemini");

it("have the shapes of the real payloads, and the transcript tells of the compaction", async () => {
  const tour = await takeGeminiTour();
  onTestFinished(() => tour.repo.remove());
  const real = new Map<string, unknown>([...fixturesOf(tour), ["mcp-server.json", mcpFixture(tour)]]);
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  const kept = new Map(files.map((name) => [name, JSON.parse(readFileSync(join(FOLDER, name), "utf8"))]));
  expect([...real.keys()].sort()).toEqual([...kept.keys()].sort());
  for (const [name, fixture] of kept) {
    expect(shapeOf(real.get(name)), name).toEqual(shapeOf(fixture));
    expect(real.get(name), name).toMatchObject({ envNames: fixture.envNames });
  }
  const resumed = tour.hooks.filter(({ payload }) => payload["source"] === "resume").map(({ payload }) => payload);
  const transcript = tour.repo.write("../transcript.jsonl", tour.transcript);
  const compactedAt = readGeminiCompaction(transcript);
  expect(compactedAt?.getTime()).toBeGreaterThan(Date.parse(String(resumed[0]?.["timestamp"])));
  expect(readGeminiFill(transcript)).toBe(3_040);
});
