// `node scripts/build-opencode.mjs [FOLDER]` bundles the opencode plugin from the sources: dist/opencode-plugin.mjs, which the file
// written by `init` loads, and by default dist/opencode, a separate package with copies of the built files, for
// `"plugin": ["FOLDER"]` in opencode.json.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { copyProgram } from "./copy-program.mjs";
import { define } from "./define.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const dist = join(home, "dist");
const source = join(home, "src/clients/opencode");
// build.mjs imports this file and has its own arguments.
const given = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv[2] : undefined;
const folder = resolve(given ?? join(dist, "opencode"));
const bundle = given ? join(folder, "opencode-plugin.mjs") : join(dist, "opencode-plugin.mjs");
const { name, version, description, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));

if (!existsSync(join(dist, "haversack.cjs")))
  throw new Error("dist/haversack.cjs is missing: run scripts/build.mjs first");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

await build({
  entryPoints: [join(source, "plugin-entry.ts")],
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2023",
  // Bun reads and rewrites the file at every start. Minifying saves a quarter.
  minify: true,
  logLevel: "warning",
  define,
  plugins: [bunStore()],
});

copyProgram(dist, folder, { without: ["hook-events.cjs", "hook-codex-notify.cjs"] });
if (!given) cpSync(bundle, join(folder, "opencode-plugin.mjs"));
cpSync(join(home, "plugin/node.sh"), join(folder, "node.sh"));
cpSync(join(home, "LICENSE"), join(folder, "LICENSE"));
const entry = "./opencode-plugin.mjs";
writeFileSync(
  join(folder, "package.json"),
  `${JSON.stringify({ name: `${name}-opencode`, version, description, license, type: "module", main: entry }, null, 2)}\n`,
);

/** The client's runtime, Bun, has a different SQLite module than Node, and cannot stop a regular expression. Nothing else changes. */
function bunStore() {
  return {
    name: "bun-store",
    setup: ({ onResolve }) => {
      onResolve({ filter: /\/quiet\.ts$/ }, () => ({ path: join(source, "bun-sqlite-entry.ts") }));
      onResolve({ filter: /\/run-patterns\.ts$/ }, () => ({ path: join(source, "linear-patterns-entry.ts") }));
    },
  };
}
