// Builds what a client starts at an event: `hook.cjs`, which loads `hook-events.cjs`, and the parts of it that only some events need.
// The sources import everything plainly; only this file knows where the bundle is cut.
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";

/**
 * Parts that are loaded when one of their functions is first called: V8 takes about 1 ms for each 100 kB of code, compiled before or
 * not, and no event needs all of it. A path that ends in / is a folder.
 */
const PARTS = {
  /** Which skills fit a prompt. */
  "hook-prompt": ["engine/discover.ts"],
  /** What a session is told at its start. */
  "hook-wake": ["engine/events/start-session.ts", "engine/index-freshness.ts", "engine/wake/"],
  /** Ends, sub-agents, guards, changes in git, and a store that cannot be written. */
  "hook-rest": [
    "engine/events/later-events.ts",
    "engine/events/receipts.ts",
    "engine/work/git-changes.ts",
    "store/sqlite/spool/stand-in.ts",
    "store/sqlite/spool/take-in.ts",
  ],
};

// The hook must be silent on a runtime without node:sqlite, so this stands before its first import.
// In a function of its own: the minifier names the file's variables without looking at this text.
const oldRuntimeGuard =
  '(function(v){if(v[0]<22||(v[0]==22&&v[1]<16))process.exit(0)})(process.versions.node.split("."));';

// ASCII: see compiled-code.ts.
const cjs = { bundle: true, platform: "node", format: "cjs", target: "node22", minify: true, charset: "ascii" };

/** `shared`: the options of all our bundles. Returns esbuild's results. */
export async function buildHook(src, dist, shared) {
  for (const path of Object.values(PARTS).flat()) statSync(join(src, path));
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
  const cut = { ...esm, chunkNames: "shared-[hash]", plugins: [cutAt(src, borders)] };
  const first = { "hook-events": entry("hook-events") };
  const later = Object.fromEntries(Object.keys(PARTS).map((part) => [part, `part:${part}`]));
  // What goes over the borders is known after the first time. Which parts need it of each other, after the second.
  for (let size = -1; size < sizeOf(borders); ) {
    size = sizeOf(borders);
    await build({ ...cut, entryPoints: size === 0 ? first : { ...first, ...later } });
  }
  const parts = await build({ ...cut, entryPoints: { ...first, ...later } });
  const texts = new Map(parts.outputFiles.map(({ path, text }) => [`./${relative(dist, path)}`, text]));
  const chunks = [...texts.keys()].filter((name) => name.startsWith("./shared-"));
  const names = Object.fromEntries(chunks.map((name) => [name, exportedNames(texts.get(name))]));
  // What two parts need is in the first, which hands it over: there is one copy of each module.
  const events = await joined(
    [
      'export * from "./hook-events.js";',
      ...chunks.map((name) => `import {${names[name]}} from "${name}";`),
      `export const shared = () => ({${Object.values(names)}});`,
    ].join("\n"),
    texts,
  );
  for (const name of chunks) {
    texts.set(name, `export const {${names[name]}} = require("./hook-events.cjs").shared();`);
  }
  const files = { "hook-events": events };
  for (const part of Object.keys(PARTS)) files[part] = await joined(`export * from "./${part}.js";`, texts);
  const [hook, codexNotify] = whole.outputFiles.map(({ text }) => text);
  write(dist, { hook, ...files, "hook-codex-notify": codexNotify });
  return [whole, parts];
}

function sizeOf(borders) {
  return [...borders.values()].reduce((sum, names) => sum + names.size, 0);
}

function exportedNames(text) {
  const [, list] = /export \{([^}]*)\};\s*$/.exec(text);
  return list.split(",").map((name) => name.trim().split(" as ").at(-1));
}

/** In another part, a function of this one is a call that loads it. Only functions go over a border. */
function cutAt(src, borders) {
  const within = (file, path) => (path.endsWith("/") ? file.startsWith(join(src, path)) : file === join(src, path));
  const partOf = (file) => Object.keys(PARTS).find((part) => PARTS[part].some((path) => within(file, path)));
  return {
    name: "cut",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = join(resolveDir, path);
        if (namespace !== "file" || !partOf(file) || partOf(file) === partOf(importer)) return undefined;
        borders.set(file, new Set([...(borders.get(file) ?? []), ...importedNames(importer, { path, file })]));
        return { path: file, namespace: "border" };
      });
      onLoad({ filter: /./, namespace: "border" }, ({ path }) => ({
        contents: [...borders.get(path)]
          .map((name) => `export const ${name} = (...args) => require("./${partOf(path)}.cjs").${name}(...args);`)
          .join("\n"),
      }));
      onResolve({ filter: /^\.\/.*\.cjs$/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^part:/ }, ({ path }) => ({ path: path.slice("part:".length), namespace: "part" }));
      onLoad({ filter: /./, namespace: "part" }, ({ path: part }) => ({
        contents: [...borders]
          .filter(([file]) => partOf(file) === part)
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
