/** `node test/clients/claude-code/record-fixtures.ts`: writes test/fixtures/claude-code anew from the real client. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import install from "./install.ts";
import { fixturesOf, mcpFixture } from "./payload-fixtures.ts";
import { takeTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/claude-code");

install();
const tours = await takeTour();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const files = new Map<string, unknown>([...fixturesOf(tours), ["mcp-server.json", mcpFixture(tours[0]!)]]);
for (const [name, content] of files) writeFileSync(join(FOLDER, name), `${JSON.stringify(content, undefined, 2)}\n`);
for (const { repo } of tours) repo.remove();
console.log(`${files.size} files in ${FOLDER}`);
