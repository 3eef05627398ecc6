/** Shows that the check fails when anything but safe-write.ts changes files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const { strayWrites, writesIn } = await import(String(new URL("../scripts/check-writes.mjs", import.meta.url)));

it("finds no write in the sources, and each one that is put there", () => {
  expect(strayWrites(join(import.meta.dirname, "../packages/haversack/src"))).toEqual([]);
  const src = mkdtempSync(join(tmpdir(), "haversack-check-"));
  onTestFinished(() => rmSync(src, { recursive: true, force: true }));
  mkdirSync(join(src, "base"));
  for (const name of ["safe-write.ts", "other.ts", "other.test.ts"]) {
    writeFileSync(join(src, "base", name), 'import { writeFileSync } from "node:fs";\nwriteFileSync("a", "b");\n');
  }
  expect(strayWrites(src)).toEqual(["base/other.ts: imports writeFileSync of fs"]);
});

it.each([
  'import { rmSync, existsSync } from "node:fs";',
  'import { renameSync as move } from "fs";',
  'import {\n  mkdirSync,\n  type Stats,\n} from "node:fs";',
  'import * as fs from "node:fs";',
  'import fs from "node:fs";',
  'import { promises } from "node:fs";',
  'import { writeFile } from "node:fs/promises";',
  'const { unlinkSync } = process.getBuiltinModule("node:fs");',
  'const fs = process.getBuiltinModule("node:fs");',
  'const { chmodSync } = require("fs");',
  'const fs = await import("node:fs");',
  'import { openSync } from "node:fs";\nopenSync(file, "w");',
  'import { openSync } from "node:fs";\nopenSync(file, "r+");',
  'import { openSync } from "node:fs";\nopenSync(file, flags, 0o600);',
  'import { openSync, constants } from "node:fs";\nopenSync(file, constants.O_RDONLY | constants.O_CREAT);',
  'import { openSync as open } from "node:fs";',
  'await Bun.write("a", "b");',
])("refuses %j", (text) => {
  expect(writesIn(text)).toHaveLength(1);
});

it.each([
  'import { existsSync, readFileSync, type Stats, writeSync } from "node:fs";\nwriteSync(1, "x");',
  'import type { Stats } from "node:fs";',
  'import { openSync } from "node:fs";\nconst file = openSync(path, "r");\n',
  '/** Nothing but `fs`; see import { rmSync } from "node:fs". */',
  '// import { rmSync } from "node:fs";',
])("lets %j pass", (text) => {
  expect(writesIn(text)).toEqual([]);
});
