/** `node test/clients/opencode/record-fixtures.ts`: writes test/fixtures/opencode anew from the real client. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import install from "./install.ts";
import { fixturesOf } from "./payload-fixtures.ts";
import { takeOpencodeTour } from "./tour.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/opencode");

install();
const tour = await takeOpencodeTour();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const files = fixturesOf(tour);
for (const [name, content] of files) writeFileSync(join(FOLDER, name), `${JSON.stringify(content, undefined, 2)}\n`);
tour.repo.remove();
console.log(`${files.size} files in ${FOLDER}`);
