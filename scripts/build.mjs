// Builds the published package: the bin, the hook and the commands as CJS files, the library as ESM, then the declarations and the JSON Schema of the config.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const home = join(root, "packages/haversack");
const src = join(home, "src");
const final = join(home, "dist");
// Built aside and moved into place at the end: programs that run from the last build never see half of this one.
const dist = join(home, `dist.${process.pid}`);
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
/** What a client starts: a small file, and the one that answers. */
const HOOK_FILES = ["hook", "hook-events", "hook-codex-notify", "hook-mask"];
const define = { __VERSION__: JSON.stringify(version) };

/** Before the name of a file that lies at the top of dist/, until it is known where the file that names it will lie. */
const BESIDE = "beside:";
/** Stands for `require` in a file that is an ES module first: there esbuild would put a function of its own in its place. */
const LATER = "__requireLater";
/** The share of all commands that a chunk of common.cjs is needed by. */
const COMMON_SHARE = 0.3;

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

// Libraries are bundled: the published package has no dependencies, and a command loads only its own file.
// yaml's node entry is CJS, which cannot be split; its other entry is the same code as ESM.
const alias = { yaml: join(root, "node_modules/yaml/browser/index.js") };
const shared = { bundle: true, platform: "node", define, alias, logLevel: "warning", metafile: true };
// The hook must be silent on a runtime without node:sqlite, so this stands before its first import.
// In a function of its own: the minifier names the file's variables without looking at this text.
const oldRuntimeGuard =
  '(function(v){if(v[0]<22||(v[0]==22&&v[1]<16))process.exit(0)})(process.versions.node.split("."));';

const commands = readdirSync(join(src, "cli/commands"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => file.slice(0, -3));
/** 2 MB: one copy for the CLI and the library. */
const tokenizerBeside = (path) => ({
  name: "tokenizer-beside",
  setup: ({ onResolve }) => onResolve({ filter: /^gpt-tokenizer\// }, () => ({ path, external: true })),
});

/**
 * The patterns for secrets take 20 kB and, made at the start, half a millisecond: one file for all, loaded by the first text that may hold
 * a secret. Most processes meet none.
 */
const patternsBeside = (folder) => ({
  name: "patterns-beside",
  setup: ({ onResolve, onLoad }) => {
    const load = folder === BESIDE ? `${LATER}("${BESIDE}hook-mask.cjs")` : `require("${folder}/hook-mask.cjs")`;
    onResolve({ filter: /\/mask\/patterns\.ts$/ }, ({ importer, path }) =>
      importer.endsWith("hook-mask.ts") ? undefined : { path, namespace: "patterns-beside" },
    );
    onLoad({ filter: /./, namespace: "patterns-beside" }, () => ({
      contents: ["maskKeys", "maskNamed"].map((name) => `export const ${name}=(text)=>${load}.${name}(text);`).join(""),
    }));
    onResolve({ filter: /hook-mask\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
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
  build({
    ...shared,
    entryPoints: Object.fromEntries(HOOK_FILES.map((name) => [name, join(src, `clients/${name}.ts`)])),
    external: HOOK_FILES.map((name) => `./${name}.cjs`),
    // ASCII: see compiled-code.ts.
    charset: "ascii",
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    target: "node22",
    minify: true,
    banner: { js: oldRuntimeGuard },
    plugins: [patternsBeside(".")],
  }),
  // The CLI: one file per command and, in chunks/, one copy of what several of them need.
  build({
    ...shared,
    entryPoints: {
      cli: join(src, "cli/main.ts"),
      ...Object.fromEntries(commands.map((name) => [`commands/${name}`, join(src, `cli/commands/${name}.ts`)])),
    },
    outdir: dist,
    // The hash may begin with a digit.
    chunkNames: "chunks/c[hash]",
    format: "esm",
    splitting: true,
    target: "node22",
    minify: true,
    charset: "utf8",
    write: false,
    // The one use of import.meta finds the installation's folder.
    define: { ...define, "import.meta.url": "__fileUrl" },
    plugins: [tokenizerBeside(`${BESIDE}tokenizer.cjs`), patternsBeside(BESIDE)],
  }).then(async (result) => {
    await writeAsCjs(result);
    return result;
  }),
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
    minifySyntax: true,
    minifyWhitespace: true,
  }),
]);

// The hook reads its parts byte by byte (compiled-code.ts). esbuild escapes texts but leaves patterns as they are written; an
// escape means the same in both.
const hookTexts = HOOK_FILES.map((name) => {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return readFileSync(join(dist, `${name}.cjs`), "utf8").replace(/[^\0-\x7f]/g, escaped);
});
// The name of what it keeps compiled: it holds for these texts alone.
const hookBuild = createHash("sha256").update(hookTexts.join("\n")).digest("hex").slice(0, 16);
HOOK_FILES.forEach((name, at) => {
  writeFileSync(join(dist, `${name}.cjs`), hookTexts[at].replaceAll("__HOOK_BUILD__", `"${hookBuild}"`));
});

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
}
const old = join(home, `dist.${process.pid}.old`);
if (existsSync(final)) renameSync(final, old);
renameSync(dist, final);
rmSync(old, { recursive: true, force: true });

await import("./build-plugin.mjs");
await import("./build-gemini.mjs");
await import("./build-codex.mjs");
await import("./build-opencode.mjs");

/**
 * esbuild shares code between files only as ES modules, and Node's loader for those costs a cold command a third of a bare start. So each
 * file is turned into CJS afterwards. import() becomes a late require(), which starts no other loader either.
 *
 * Every file that is loaded costs half a millisecond, so the chunks that many commands need lie in one file, common.cjs. Each is a
 * function there, which the first that needs it calls: the others are not compiled.
 */
async function writeAsCjs({ outputFiles, metafile: { outputs } }) {
  const names = new Map(Object.keys(outputs).map((path) => [join(process.cwd(), path), path]));
  const users = new Map();
  const count = (name, command) => {
    if (!users.has(name)) users.set(name, new Set());
    if (users.get(name).has(command)) return;
    users.get(name).add(command);
    for (const { path, kind } of outputs[name].imports) {
      if (kind === "import-statement" && outputs[path]) count(path, command);
    }
  };
  for (const name of Object.keys(outputs)) if (name.includes("/commands/")) count(name, name);
  // The CLI's first file needs little of it, and often no command.
  const cli = Object.keys(outputs).find((name) => basename(name) === "cli.js");
  count(cli, cli);
  const isCommon = (path) => {
    const who = users.get(names.get(path)) ?? new Set();
    return dirname(path).endsWith("chunks") && !who.has(cli) && who.size >= commands.length * COMMON_SHARE;
  };
  const commonIds = new Set(outputFiles.filter(({ path }) => isCommon(path)).map(({ path }) => basename(path, ".js")));

  const common = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, {
        format: "cjs",
        platform: "node",
        target: "node22",
        minify: true,
        charset: "ascii",
        supported: { "dynamic-import": false },
      });
      const isIn = isCommon(path);
      const up = isIn ? "." : relative(dirname(path), dist) || ".";
      const linked = code.replaceAll(LATER, "require").replace(/\brequire\("([^"]*)"\)/g, (whole, target) => {
        if (target.startsWith(BESIDE)) return `require("${up}/${target.slice(BESIDE.length)}")`;
        if (!target.startsWith(".")) return whole;
        const wanted = basename(target, ".js");
        if (commonIds.has(wanted)) return isIn ? `common.${wanted}()` : `require("${up}/common.cjs").${wanted}()`;
        const file = relative(isIn ? dist : dirname(path), join(dirname(path), target)).replace(/js$/, "cjs");
        return `require("${file.startsWith(".") ? file : `./${file}`}")`;
      });
      const id = basename(path, ".js");
      // Declared by name: V8 compiles a function that stands in brackets at once.
      if (isIn) return `common.${id}=once(${id});function ${id}(module,exports){${linked}\n}`;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path.replace(/js$/, "cjs"), withPlace(linked));
      return "";
    }),
  );
  const once = "function once(f){var m;return function(){if(!m)f(m={exports:{}},m.exports);return m.exports}}";
  writeFileSync(join(dist, "common.cjs"), withPlace(`"use strict";var common=exports;${once}\n${common.join("\n")}`));
}

function withPlace(code) {
  const place = 'var __fileUrl=require("node:url").pathToFileURL(__filename).href;';
  return code.includes("__fileUrl") ? `${place}${code}` : code;
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
