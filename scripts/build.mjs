// Builds the published package: the bin, the hook and the commands as CJS files, the library as ESM, then the declarations and the JSON Schema of the config.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildHook } from "./build-hook.mjs";
import { bundleTogether } from "./bundle.mjs";
import { define } from "./define.mjs";
import "./make-postgres.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const src = join(home, "src");
const final = join(home, "dist");
// Built in a separate folder and moved into place at the end, so programs that run from the last build never see half of this one.
const dist = join(home, `dist.${process.pid}`);

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

// Libraries are bundled: the published package has no dependencies, and a command loads only its own file. yaml's node entry is CJS,
// which cannot be split; its browser entry is the same code as ESM.
const alias = { yaml: join(root, "node_modules/yaml/browser/index.js") };
const shared = { bundle: true, platform: "node", define, alias, logLevel: "warning", metafile: true };
const commands = readdirSync(join(src, "cli/commands"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => file.slice(0, -3));
/** What these programs import is joined into one file each, so that they load few files: first those that run most often. */
const JOINED = {
  cli: ["cli"],
  core: ["command-session"],
  tasks: ["command-next", "command-task", "command-status"],
  transcripts: ["window-fill"],
  claiming: ["command-claim", "command-task-status", "command-wip"],
  waking: ["command-agent", "command-message"],
  wiring: ["command-doctor", "command-init", "command-on-off"],
};
/** The library's entries: file of the package → source. */
const LIBRARY = { index: "index.ts", agents: "agents/index.ts" };
/** 2 MB, and needed only for exact counts. */
const tokenizerBeside = {
  name: "tokenizer-beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^gpt-tokenizer\// }, () => ({ path: "./tokenizer.cjs", external: true })),
};

const programs = await bundleTogether({
  ...shared,
  entryPoints: {
    cli: join(src, "cli/main.ts"),
    "mcp-answers": join(src, "cli/mcp-answers.ts"),
    "sdk-server": join(src, "mcp/sdk-server.ts"),
    "window-fill": join(src, "clients/window-fill.ts"),
    ...Object.fromEntries(commands.map((name) => [`command-${name}`, join(src, `cli/commands/${name}.ts`)])),
    ...Object.fromEntries(Object.entries(LIBRARY).map(([name, file]) => [`library/${name}`, join(src, file)])),
  },
  joined: JOINED,
  // People who write agents have it installed; a second copy would not accept the models of the first.
  external: ["ai"],
  outdir: dist,
  plugins: [tokenizerBeside],
});
const built = await Promise.all([
  programs,
  // Must parse on any Node on the PATH, so an old one gets a one-line error.
  build({
    ...shared,
    entryPoints: { haversack: join(src, "cli/bin.ts") },
    define: { ...define, __CLI_BUILD__: JSON.stringify(programs.hash) },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    target: "node14",
    minify: true,
    external: ["./cli.cjs"],
    banner: { js: "#!/usr/bin/env node" },
  }),
  ...(await buildHook(src, dist, shared)),
  build({
    ...shared,
    entryPoints: { tokenizer: join(root, "node_modules/gpt-tokenizer/esm/encoding/o200k_base.js") },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    target: "node22",
    minify: true,
    charset: "utf8",
  }),
]);

await buildBoard(join(root, "packages/board/src"), join(dist, "board"));

// Programs import the library as ESM. It shares its code with the commands, so that a HaversackError is the same class everywhere.
for (const [path, { exports: names }] of Object.entries(programs.metafile.outputs)) {
  const [, name] = /\/library\/([^/]+)\.js$/.exec(path) ?? [];
  if (!name) continue;
  const lines = [`import library from "./library/${name}.cjs";`, `export const { ${names.join(", ")} } = library;`];
  writeFileSync(join(dist, `${name}.js`), `${lines.join("\n")}\n`);
}
// npm sets this only while it installs: a linked clone would lose its command with the next build.
chmodSync(join(dist, "haversack.cjs"), 0o755);
// npm shows the README in the package.
cpSync(join(root, "README.md"), join(home, "README.md"));
// The files that `haversack workflow add` copies.
cpSync(join(home, "workflows"), join(dist, "examples/workflows"), { recursive: true });
writeFileSync(join(dist, "THIRD-PARTY-NOTICES.txt"), thirdPartyNotices(built));

const { configJsonSchema } = await import(pathToFileURL(join(src, "base/config-schema.ts")).href);
writeFileSync(join(dist, "config.schema.json"), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);

process.once("exit", () => rmSync(dist, { recursive: true, force: true }));
if (!process.argv.includes("--no-types")) {
  const tsc = join(root, "node_modules/.bin/tsc");
  execFileSync(tsc, ["-p", join(home, "tsconfig.build.json"), "--outDir", join(dist, "types")], { stdio: "inherit" });
  removeUnusedTypes(join(dist, "types"));
}
const old = join(home, `dist.${process.pid}.old`);
if (existsSync(final)) renameSync(final, old);
renameSync(dist, final);
rmSync(old, { recursive: true, force: true });

await import("./build-plugin.mjs");
await import("./build-gemini.mjs");
await import("./build-codex.mjs");
await import("./build-opencode.mjs");

/** The board's page. Charts are a file of their own, loaded by the view that has some. */
async function buildBoard(from, to) {
  const page = await build({
    entryPoints: { app: join(from, "main.tsx"), charts: join(from, "charts.ts") },
    outdir: to,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    logLevel: "warning",
    metafile: true,
  });
  const charts = join(root, "node_modules/uplot/dist/uPlot.min.css");
  const style = await build({
    stdin: { contents: `@import "./app.css"; @import "${charts}";`, resolveDir: from, loader: "css" },
    outfile: join(to, "app.css"),
    bundle: true,
    minify: true,
    logLevel: "warning",
    metafile: true,
  });
  for (const name of ["index.html", "icon.svg"]) cpSync(join(from, name), join(to, name));
  built.push(page, style);
}

/** tsc writes declarations for every file it reads. Users need only those that the library's own declarations refer to. */
function removeUnusedTypes(types) {
  const used = new Set();
  const follow = (file) => {
    if (used.has(file) || !existsSync(file)) return;
    used.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      follow(join(dirname(file), path).replace(/\.[jt]s$/, ".d.ts"));
    }
  };
  follow(join(types, "index.d.ts"));
  follow(join(types, "agents/index.d.ts"));
  for (const name of readdirSync(types, { recursive: true })) {
    const file = join(types, name);
    if (name.endsWith(".d.ts") && !used.has(file)) rmSync(file);
  }
}

/** The licences of the bundled libraries. */
function thirdPartyNotices(results) {
  const names = new Set();
  for (const { metafile } of results) {
    for (const input of Object.keys(metafile.inputs)) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
      if (name) names.add(name);
    }
  }
  const parts = [...names].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const { version: found, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${found} (${license})\n\n${licence ? readFileSync(join(folder, licence), "utf8") : ""}`;
  });
  return parts.join(`\n${"-".repeat(72)}\n`);
}
