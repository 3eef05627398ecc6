// Builds the published package: the bin, the hook and the commands as CJS files, the library as ESM, then the declarations and the JSON Schema of the config.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildHook } from "./build-hook.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const src = join(home, "src");
const final = join(home, "dist");
// Built aside and moved into place at the end: programs that run from the last build never see half of this one.
const dist = join(home, `dist.${process.pid}`);
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const define = { __VERSION__: JSON.stringify(version) };

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

// Libraries are bundled: the published package has no dependencies, and a command loads only its own file.
// yaml's node entry is CJS, which cannot be split; its other entry is the same code as ESM.
const alias = { yaml: join(root, "node_modules/yaml/browser/index.js") };
const shared = { bundle: true, platform: "node", define, alias, logLevel: "warning", metafile: true };
const cjs = {
  outdir: dist,
  outExtension: { ".js": ".cjs" },
  format: "cjs",
  target: "node22",
  minify: true,
  charset: "utf8",
  // import() would start the ESM loader; a command is loaded when it is called all the same.
  supported: { "dynamic-import": false },
  // The one use of import.meta finds the installation's folder.
  define: { ...define, "import.meta.url": "__fileUrl" },
  banner: { js: 'var __fileUrl=require("node:url").pathToFileURL(__filename).href;' },
};
const commands = readdirSync(join(src, "cli/commands"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => file.slice(0, -3));
/** What many commands need, as files of their own: one copy in place of ten or more. */
const SHARED = {
  "open-store": "store/sqlite/open.ts",
  "work-store": "store/sqlite/work/sqlite-work-store.ts",
  "skill-indexing": "engine/refresh-index.ts",
  clients: "clients/table.ts",
  project: "engine/open-project.ts",
  "work-commands": "cli/work.ts",
  waking: "engine/wake/make-packet.ts",
  trusting: "engine/trust-project.ts",
  artifacts: "engine/artifacts/artifact-parts.ts",
};
/** Commands refer to one another's files, and to one copy of what many of them need, as they will lie in dist/. */
const besides = (folder, yaml) => ({
  name: "files-beside",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/commands\// }, ({ path }) => {
      return { path: `${folder}/${path.slice("./commands/".length).replace(/ts$/, "cjs")}`, external: true };
    });
    onResolve({ filter: /^yaml$/ }, () => ({ path: yaml, external: true }));
    for (const [name, file] of Object.entries(SHARED)) {
      onResolve({ filter: new RegExp(`/${file.split("/").at(-1)}$`) }, ({ path, resolveDir, kind }) =>
        kind !== "entry-point" && join(resolveDir, path) === join(src, file)
          ? { path: yaml.replace("yaml", name), external: true }
          : undefined,
      );
    }
    // What the MCP server loads behind its first answer, and what only some clients need.
    onResolve({ filter: /\/(?:mcp-answers|sdk-server)\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import"
        ? { path: yaml.replace("yaml", path.slice(path.lastIndexOf("/") + 1, -".ts".length)), external: true }
        : undefined,
    );
  },
});
/** 2 MB: one copy for all. */
const tokenizerBeside = (path) => ({
  name: "tokenizer-beside",
  setup: ({ onResolve }) => onResolve({ filter: /^gpt-tokenizer\// }, () => ({ path, external: true })),
});

/** The patterns for secrets: 28 kB. */
const maskBeside = (path) => ({
  name: "mask-beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/mask\.ts$/ }, ({ kind }) => (kind === "entry-point" ? undefined : { path, external: true })),
});

const built = await Promise.all([
  // Parsed by whatever node is on the PATH, so that one too old can be told in one line.
  build({
    ...shared,
    entryPoints: { haversack: join(src, "cli/bin.ts") },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    target: "node14",
    minify: true,
    external: ["./cli.cjs"],
    banner: { js: "#!/usr/bin/env node" },
  }),
  ...(await buildHook(src, dist, shared)),
  // The CLI as CJS, one file per command: the ESM loader alone costs a cold command a third of a bare start.
  build({
    ...shared,
    ...cjs,
    entryPoints: {
      cli: join(src, "cli/main.ts"),
      "mcp-answers": join(src, "cli/mcp-answers.ts"),
      "sdk-server": join(src, "mcp/sdk-server.ts"),
    },
    plugins: [besides("./commands", "./yaml.cjs"), tokenizerBeside("./tokenizer.cjs"), maskBeside("./mask.cjs")],
  }),
  build({
    ...shared,
    ...cjs,
    entryPoints: Object.fromEntries(commands.map((name) => [`commands/${name}`, join(src, `cli/commands/${name}.ts`)])),
    plugins: [besides(".", "../yaml.cjs"), tokenizerBeside("../tokenizer.cjs"), maskBeside("../mask.cjs")],
  }),
  build({
    ...shared,
    ...cjs,
    entryPoints: {
      yaml: join(root, "node_modules/yaml/browser/index.js"),
      tokenizer: join(root, "node_modules/gpt-tokenizer/esm/encoding/o200k_base.js"),
      mask: join(src, "base/mask.ts"),
      ...Object.fromEntries(Object.entries(SHARED).map(([name, file]) => [name, join(src, file)])),
    },
    plugins: [besides("./commands", "./yaml.cjs"), tokenizerBeside("./tokenizer.cjs"), maskBeside("./mask.cjs")],
  }),
  build({
    ...shared,
    entryPoints: { index: join(src, "index.ts") },
    // The stores are its own: who catches a HaversackError must get the class that it exports.
    plugins: [tokenizerBeside("./tokenizer.cjs")],
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    format: "esm",
    target: "node22",
    splitting: true,
    // Names stay: users see them in errors.
    minifySyntax: true,
    minifyWhitespace: true,
  }),
]);

// npm shows the one that lies in the package.
cpSync(join(root, "README.md"), join(home, "README.md"));
// What `haversack workflow add` copies.
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

/** tsc writes declarations of every file that it read; users need those that the library's own refer to. */
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
  for (const name of readdirSync(types, { recursive: true })) {
    const file = join(types, name);
    if (name.endsWith(".d.ts") && !used.has(file)) rmSync(file);
  }
}

/** The licences of the libraries that ended up in the bundles. */
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
