/** `node test/clients/gemini/record-fixtures.ts`: writes test/fixtures/gemini anew from the real client. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import install from "./install.ts";
import { fixturesOf, mcpFixture, transcriptFixture } from "./payload-fixtures.ts";
import { takeGeminiTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/gemini");

install();
const tour = await takeGeminiTour();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const files = new Map<string, unknown>([...fixturesOf(tour), ["mcp-server.json", mcpFixture(tour)]]);
for (const [name, content] of files) writeFileSync(join(FOLDER, name), `${JSON.stringify(content, undefined, 2)}\n`);
writeFileSync(join(FOLDER, "transcript.jsonl"), transcriptFixture(tour));
tour.repo.remove();
console.log(`${files.size + 1} files in ${FOLDER}`);
