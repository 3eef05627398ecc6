// Builds the program that a client starts for an event: `hook.cjs`, which loads `hook-events.cjs`, and the chunks that only some events
// need. The sources use ordinary imports; only this file defines the chunks.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { asciiOnly, hashOf, importsOf, joinInto } from "./bundle.mjs";

/**
 * Chunks that are loaded when one of their functions is first called: V8 takes about 1 ms per 100 kB of code, even if it is already
 * compiled, and no event needs all of it. A path that ends in / is a folder.
 */
const PARTS = {
  /** Records tool calls, and keeps long outputs: both read errors and test results, which no other event needs. */
  "hook-tool": ["engine/events/record-tool.ts", "engine/outputs/"],
  /** Finds the skills that fit a prompt. */
  "hook-prompt": ["engine/discover.ts"],
  /** Makes the text for a session's start. */
  "hook-wake": ["engine/events/start-session.ts", "engine/refresh-index.ts", "engine/wake/"],
  /** Ends, sub-agents, guards, changes in git, the spool, packages that do nothing because `init` has wired the client, a removed server. */
  "hook-rest": [
    "clients/own-wiring.ts",
    "clients/use-commands.ts",
    "engine/events/later-events.ts",
    "engine/artifacts/watch-reader.ts",
    "engine/work/git-changes.ts",
    "store/sqlite/spool/take-in.ts",
  ],
  /** For a store that cannot be written. Contains all migrations, for the tables in memory. */
  "hook-stand-in": ["store/sqlite/spool/stand-in.ts"],
};

/** An extra file costs a process about as much as this many characters, before minifying. */
const LONG_CHARS = 20_000;

/** Imports used only by functions that no event calls. They are kept out of the first file. */
const UNUSED = { "store/sqlite/schema.ts": "./migrations.ts" };

// The hook must be silent on a runtime without node:sqlite, so this comes before its first import. It is wrapped in a function,
// because the minifier names the file's variables without looking at this text.
const oldRuntimeGuard =
  '(function(v){if(v[0]<22||(v[0]==22&&v[1]<16))process.exit(0)})(process.versions.node.split("."));';

const cjs = { bundle: true, platform: "node", format: "cjs", target: "node22", minify: true };

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
    plugins: [pure],
  });
  const borders = new Map();
  const esm = { ...shared, format: "esm", target: "node22", outdir: dist, write: false, splitting: true };
  const cut = { ...esm, chunkNames: "shared-[hash]", plugins: [cutAt(src, borders)] };
  const first = { "hook-events": entry("hook-events") };
  const later = Object.fromEntries(Object.keys(PARTS).map((part) => [part, `part:${part}`]));
  // The first build finds what crosses the chunk borders; the second finds which chunks need it from each other. Until then, a file that
  // two others import lacks the names that the second one imports, which is an error. The last build must have no errors.
  for (let size = -1; size < sizeOf(borders); ) {
    size = sizeOf(borders);
    const entryPoints = size === 0 ? first : { ...first, ...later };
    await build({ ...cut, entryPoints, logLevel: "silent" }).catch(() => undefined);
  }
  const parts = await build({ ...cut, entryPoints: { ...first, ...later } });
  const texts = new Map(parts.outputFiles.map(({ path, text }) => [relative(dist, path), withoutBareImports(text)]));
  const entries = new Set(Object.keys({ ...first, ...later }).map((name) => `${name}.js`));
  // Each module exists once: in the first file if that needs it, in a chunk if no other one needs it, else in the first file after all.
  // Long ones that several chunks need get a file each, with what needs them.
  const users = new Map([...entries].map((entry) => [entry, new Set(importsOf(entry, texts))]));
  const usersOf = (name) => [...entries].filter((entry) => entry === name || users.get(entry).has(name));
  const isLong = (name) => usersOf(name).length > 1 && !isOfFirst(name) && texts.get(name).length >= LONG_CHARS;
  const isOfFirst = (name) => usersOf(name).includes("hook-events.js");
  const long = [...texts.keys()].filter(isLong);
  const homeOf = (name) => {
    const [user, another] = usersOf(name);
    if (!another) return user.replace(/js$/, "cjs");
    const [found] = [name, ...importsOf(name, texts)].filter(isLong);
    return found ? `hook-more-${long.indexOf(found) + 1}.cjs` : "hook-events.cjs";
  };
  const [hook, codexNotify] = whole.outputFiles.map(({ text }) => asciiOnly(text));
  write(dist, [
    ["hook.cjs", hook],
    ["hook-codex-notify.cjs", codexNotify],
    ...(await joinInto({ texts, entries, homeOf })),
  ]);
  return [whole, parts];
}

/** Without the imports that only keep the order in which files run: none of our files does anything when it is loaded. */
function withoutBareImports(text) {
  return text.replace(/^import "[^"]+";$/gm, "");
}

function sizeOf(borders) {
  return [...borders.values()].reduce((sum, names) => sum + names.size, 0);
}

/** Marks files as free of side effects, so esbuild drops imports that are not used. */
const pure = {
  name: "pure",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    })),
};

/** Replaces imports from another chunk by functions that load it on the first call. Only functions may cross a border. */
function cutAt(src, borders) {
  const within = (file, path) => (path.endsWith("/") ? file.startsWith(join(src, path)) : file === join(src, path));
  const partOf = (file) => Object.keys(PARTS).find((part) => PARTS[part].some((path) => within(file, path)));
  return {
    name: "cut",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = join(resolveDir, path);
        if (UNUSED[relative(src, importer)] === path) return { path: "unused", namespace: "unused" };
        if (namespace !== "file" || !partOf(file) || partOf(file) === partOf(importer)) {
          return namespace === "file" ? { path: file, sideEffects: false } : undefined;
        }
        borders.set(file, new Set([...(borders.get(file) ?? []), ...importedNames(importer, { path, file })]));
        return { path: file, namespace: "border" };
      });
      onLoad({ filter: /./, namespace: "border" }, ({ path }) => ({
        contents: [...borders.get(path)]
          .map((name) => `export const ${name} = (...args) => require("./${partOf(path)}.cjs").${name}(...args);`)
          .join("\n"),
      }));
      // Throws if it is used after all.
      onLoad({ filter: /./, namespace: "unused" }, () => ({ contents: "export const migrations = undefined;" }));
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

function write(dist, files) {
  const texts = files.map(([name, text]) => [name, `${oldRuntimeGuard}\n${text}`]);
  // Part of the bytecode's name, because it is valid only for these texts.
  const hookBuild = hashOf(texts);
  for (const [name, text] of texts) {
    writeFileSync(join(dist, name), text.replaceAll("__HOOK_BUILD__", `"${hookBuild}"`));
  }
}
