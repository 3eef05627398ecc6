// Builds what a client starts at an event: `hook.cjs`, which loads `hook-events.cjs`, and `hook-later.cjs` with what most events do not need.
// The sources import everything plainly; only this file knows where the bundle is cut.
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";

/**
 * Loaded when one of its functions is first called: starts, ends, sub-agents, packets, messages, and a store that cannot be written.
 * A prompt or a tool call needs none of it, and it is half of the code. A path that ends in / is a folder.
 */
const LATER = [
  "engine/events/start-session.ts",
  "engine/events/later-events.ts",
  "engine/events/receipts.ts",
  "engine/index-freshness.ts",
  "engine/wake/",
  "engine/work/note-git-changes.ts",
  "store/sqlite/spool/stand-in.ts",
  "store/sqlite/spool/take-in.ts",
];

// The hook must be silent on a runtime without node:sqlite, so this stands before its first import.
// In a function of its own: the minifier names the file's variables without looking at this text.
const oldRuntimeGuard =
  '(function(v){if(v[0]<22||(v[0]==22&&v[1]<16))process.exit(0)})(process.versions.node.split("."));';

// ASCII: see compiled-code.ts.
const cjs = { bundle: true, platform: "node", format: "cjs", target: "node22", minify: true, charset: "ascii" };

/** `shared`: the options of all our bundles. Returns esbuild's results. */
export async function buildHook(src, dist, shared) {
  for (const path of LATER) statSync(join(src, path));
  const entry = (name) => join(src, `clients/${name}.ts`);
  const whole = await build({
    ...shared,
    ...cjs,
    entryPoints: [entry("hook"), entry("hook-codex-notify")],
    outdir: dist,
    write: false,
  });
  const borders = new Map();
  const esm = { ...shared, format: "esm", target: "node22", outdir: dist, write: false, splitting: true };
  const cut = { ...esm, chunkNames: "shared", plugins: [cutAt(src, borders)] };
  await build({ ...cut, entryPoints: { "hook-events": entry("hook-events") } });
  const parts = await build({ ...cut, entryPoints: { "hook-events": entry("hook-events"), "hook-later": "later:" } });
  const texts = new Map(parts.outputFiles.map(({ path, text }) => [`./${relative(dist, path)}`, text]));
  // What both need is in the first, which hands it over: there is one copy of each module.
  const exported = /export \{([^}]*)\};\s*$/.exec(texts.get("./shared.js"))[1].split(",");
  const names = exported.map((name) => name.trim().split(" as ").at(-1)).join();
  const events = await joined(
    `export * from "./hook-events.js"; import {${names}} from "./shared.js"; export const shared = () => ({${names}});`,
    texts,
  );
  texts.set("./shared.js", `export const {${names}} = require("./hook-events.cjs").shared();`);
  const later = await joined('export * from "./hook-later.js";', texts);
  const [hook, codexNotify] = whole.outputFiles.map(({ text }) => text);
  write(dist, { hook, "hook-events": events, "hook-later": later, "hook-codex-notify": codexNotify });
  return [whole, parts];
}

/** In the part that is loaded at once, a function of a later file is a call that loads the other part. Only functions go over this border. */
function cutAt(src, borders) {
  const later = LATER.map((path) => join(src, path));
  const isLater = (file) => later.some((path) => (path.endsWith("/") ? file.startsWith(path) : file === path));
  return {
    name: "cut",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = join(resolveDir, path);
        if (namespace !== "file" || !isLater(file) || isLater(importer)) return undefined;
        borders.set(file, new Set([...(borders.get(file) ?? []), ...importedNames(importer, { path, file })]));
        return { path: file, namespace: "border" };
      });
      onLoad({ filter: /./, namespace: "border" }, ({ path }) => ({
        contents: [...borders.get(path)]
          .map((name) => `export const ${name} = (...args) => require("./hook-later.cjs").${name}(...args);`)
          .join("\n"),
      }));
      onResolve({ filter: /^\.\/hook-later\.cjs$/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^later:$/ }, ({ path }) => ({ path, namespace: "later" }));
      onLoad({ filter: /./, namespace: "later" }, () => ({
        contents: [...borders]
          .map(([file, names]) => `export { ${[...names].join(", ")} } from ${JSON.stringify(file)};`)
          .join("\n"),
        resolveDir: src,
      }));
    },
  };
}

/** The values that one file imports from another. */
function importedNames(importer, { path, file }) {
  const clause = new RegExp(`^import \\{([^}]*)\\} from "${path}";$`, "m").exec(readFileSync(importer, "utf8"))?.[1];
  const names = (clause ?? "").split(",").map((name) => name.trim());
  const values = names.filter((name) => name && !name.startsWith("type "));
  const text = readFileSync(file, "utf8");
  for (const name of values) {
    if (!text.includes(`\nexport function ${name}(`)) throw new Error(`${importer}: ${name} of ${file} is no function`);
  }
  return values;
}

/** One CJS file of these texts. */
async function joined(contents, texts) {
  const fromTexts = {
    name: "from-texts",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\/.*\.js$/ }, ({ path }) => ({ path, namespace: "text" }));
      onResolve({ filter: /^\.\/.*\.cjs$/ }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /./, namespace: "text" }, ({ path }) => ({ contents: texts.get(path) }));
    },
  };
  const { outputFiles } = await build({ ...cjs, stdin: { contents }, write: false, plugins: [fromTexts] });
  return outputFiles[0].text;
}

function write(dist, files) {
  // The hook reads its parts byte by byte (compiled-code.ts). esbuild escapes texts but leaves patterns as they are written; an
  // escape means the same in both.
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const texts = Object.entries(files).map(([name, text]) => [
    name,
    `${oldRuntimeGuard}\n${text.replace(/[^\0-\x7f]/g, escaped)}`,
  ]);
  // The name of what it keeps compiled: it holds for these texts alone.
  const hookBuild = createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 16);
  for (const [name, text] of texts) {
    writeFileSync(join(dist, `${name}.cjs`), text.replaceAll("__HOOK_BUILD__", `"${hookBuild}"`));
  }
}
