/** `node test/clients/codex/record-fixtures.ts`: writes test/fixtures/codex anew from the real client. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import install from "./install.ts";
import { fixturesOf, mcpFixture, rolloutFixture } from "./payload-fixtures.ts";
import { takeTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/codex");

install();
const tours = await takeTour();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const files = new Map<string, unknown>([...fixturesOf(tours), ["mcp-server.json", mcpFixture(tours)]]);
for (const [name, content] of files) writeFileSync(join(FOLDER, name), `${JSON.stringify(content, undefined, 2)}\n`);
writeFileSync(join(FOLDER, "rollout.jsonl"), rolloutFixture(tours[0]!));
writeFileSync(join(FOLDER, "rollout.compacted.jsonl"), rolloutFixture(tours[1]!));
for (const { repo } of tours) repo.remove();
console.log(`${files.size + 2} files in ${FOLDER}`);
