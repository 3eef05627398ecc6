// `npm run check`: everything that is not a test. Runs all checks and names every one that failed.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { newestSchema } from "../packages/haversack/src/store/sqlite/schema.ts";
import { layerViolations } from "./check-layers.mjs";
import { strayTables, unownedTables } from "./check-tables.mjs";
import { strayWrites } from "./check-writes.mjs";
import { staleDocs } from "./docs.mjs";
import "./make-postgres.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
// Only a rough limit. The real measure is `npm run bench compare`, which times whole hooks against an older build.
const HOOK_LIMIT_BYTES = 400_000;
const HOOK_FILES = [
  "hook.cjs",
  "hook-events.cjs",
  "hook-codex.cjs",
  "hook-files.cjs",
  "hook-gemini.cjs",
  "hook-prompt.cjs",
  "hook-rest.cjs",
  "hook-stand-in.cjs",
  "hook-tool.cjs",
  "hook-wake.cjs",
  "hook-work.cjs",
  "hook-codex-notify.cjs",
];
/** Other modules cost a new process too much. Only the few events that start a process load `child_process`, and only kept outputs `crypto`. */
const HOOK_MODULES = ["node:fs", "node:path", "node:sqlite", "node:vm", "node:child_process", "node:crypto"];

const checks = {
  build: () => run("node", ["scripts/build.mjs"]),
  types: () => [...run("tsc", ["-p", "."]), ...run("tsc", ["-p", "packages/board"])],
  "format and lint": () => run("biome", ["ci", "--colors=off", "--error-on-warnings", "."]),
  layers: () => layerViolations(join(home, "src")),
  "files are written in one place": () => strayWrites(join(home, "src")),
  "one owner per table": () => [...strayTables(join(home, "src")), ...unownedTables(newestSchema())],
  "unused code and dependencies": () => run("knip", ["--no-progress"]),
  package: () => run("publint", ["--strict", "packages/haversack"]),
  "generated docs": () => staleDocs(),
  "hook file": () => hookProblems(),
  "lock file": () => lockProblems(),
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  const problems = await check();
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"}  ${name}`);
  for (const line of problems) console.log(`      ${line}`);
  if (problems.length > 0) failed++;
}
process.exitCode = failed === 0 ? 0 : 1;

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split("\n");
}

function hookProblems() {
  const allowed = [...HOOK_MODULES, ...HOOK_FILES.map((name) => `./${name}`)];
  return HOOK_FILES.flatMap((name) => {
    const file = join(home, "dist", name);
    const { size } = statSync(file);
    const isAscii = readFileSync(file).every((byte) => byte < 128);
    // The minifier may break a string in two lines.
    const text = readFileSync(file, "utf8").replaceAll("\\\n", "");
    const modules = [...text.matchAll(/(?:require|getBuiltinModule)\("([^"]+)"\)/g)].map(([, module]) => module);
    return [
      ...(isAscii ? [] : [`${name} holds other characters than ASCII; see compiled-code.ts`]),
      ...(size > HOOK_LIMIT_BYTES ? [`${name} has ${size} bytes; at most ${HOOK_LIMIT_BYTES}`] : []),
      ...modules.filter((module) => !allowed.includes(module)).map((module) => `${name} loads ${module}`),
      ...(/require\("node:child_process"\)/.test(text) ? [`${name} loads node:child_process at its start`] : []),
    ];
  });
}

/**
 * A registry address in the lock file would tie every install to one registry. An optional package without an entry makes `npm ci`
 * refuse the lock file.
 */
function lockProblems() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const names = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf("node_modules/") + 13)));
  return Object.entries(packages).flatMap(([path, { resolved, link, optionalDependencies = {} }]) => [
    ...(resolved && !link ? [`package-lock.json names a download address for ${path}`] : []),
    ...Object.keys(optionalDependencies)
      .filter((name) => !names.has(name))
      .map((name) => `package-lock.json has no entry for ${name}, which ${path} wants`),
  ]);
}
