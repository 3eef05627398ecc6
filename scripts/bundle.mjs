// Bundles several programs into CJS files that share their code: each module is in exactly one file.
// esbuild splits only ES modules, so it does that first, and then each of its files becomes a CJS file. CJS, because the ESM loader
// costs a cold command a third of a bare start.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";

/**
 * `entryPoints`: file name without extension → source. `joined`: file name → entries; what these entries import goes into that file
 * unless an earlier one has it, because every extra file takes a new process 0.2 ms. Returns esbuild's result of the first step, and a hash of the written files.
 */
export async function bundleTogether({ entryPoints, joined, outdir, ...options }) {
  const split = await build({
    ...options,
    entryPoints,
    outdir,
    bundle: true,
    metafile: true,
    write: false,
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
  });
  const texts = new Map(split.outputFiles.map(({ path, text }) => [relative(outdir, path), text]));
  // Files that are loaded by name: the given ones, and what import() loads.
  const entries = new Set();
  for (const [path, { entryPoint }] of Object.entries(split.metafile.outputs)) {
    if (entryPoint) entries.add(relative(outdir, resolve(path)));
  }
  const joinedIn = Object.entries(joined).map(([file, names]) => [
    `${file}.cjs`,
    new Set(names.flatMap((entry) => importsOf(`${entry}.js`, texts))),
  ]);
  const homeOf = (name) => joinedIn.find(([, names]) => names.has(name))?.[0] ?? name.replace(/\.js$/, ".cjs");
  const files = await joinInto({ texts, entries, homeOf });
  for (const [home, text] of files) {
    mkdirSync(dirname(join(outdir, home)), { recursive: true });
    writeFileSync(join(outdir, home), text);
  }
  return { ...split, hash: hashOf(files) };
}

/**
 * Joins ES modules into CJS files. `texts`: name → text. `entries`: the names whose exports users of the file see. `homeOf`: the file that
 * a text goes into. Returns the files' names and texts.
 */
export function joinInto({ texts, entries, homeOf }) {
  const homes = Map.groupBy(texts.keys(), homeOf);
  const borrowed = borrowedNames(homes, { texts, homeOf });
  return Promise.all(
    [...homes].map(async ([home, members]) => {
      const lent = [...borrowed].flatMap(([borrower, lenders]) =>
        lenders.has(home) ? [[borrower, lenders.get(home)]] : [],
      );
      const contents = [
        ...members.filter((name) => entries.has(name)).map((name) => `export * from "./${name}";`),
        ...new Set(
          lent.flatMap(([, names]) => names.map(({ name, from, as }) => `import {${name} as ${as}} from "./${from}";`)),
        ),
        // One function for each borrower, so that a process loads only what its own files need.
        // A list: V8 takes a new process 5 us for each property of an object with new names.
        `export const lend = {${lent.map(([borrower, names]) => `"${borrower}": () => [${names.map(({ as }) => as)}]`)}};`,
      ];
      return [home, await toCommonJs(home, contents.join("\n"), { texts, homeOf, borrowed })];
    }),
  );
}

const IMPORT = /^import\s*(?:\{([^}]*)\}\s*from\s*)?"\.{1,2}\/([^"]+\.js)";?$/gm;

/** The files that a file imports, directly or indirectly. */
export function importsOf(name, texts, found = new Set()) {
  for (const [, , path] of texts.get(name).matchAll(IMPORT)) {
    if (found.has(path)) continue;
    found.add(path);
    importsOf(path, texts, found);
  }
  return [...found];
}

/** What each file takes from others: borrower → lender → names, each with a name that is unique among all files. */
function borrowedNames(homes, { texts, homeOf }) {
  const uniques = new Map();
  const unique = (from, name) => {
    const key = `${from} ${name}`;
    if (!uniques.has(key)) uniques.set(key, `$${uniques.size.toString(36)}`);
    return uniques.get(key);
  };
  return new Map(
    [...homes].map(([home, members]) => {
      const imported = members.flatMap((member) => [...texts.get(member).matchAll(IMPORT)]);
      const names = imported
        .filter(([, , from]) => homeOf(from) !== home)
        .flatMap(([, list = "", from]) => importedNames(list).map((name) => ({ name, from, as: unique(from, name) })));
      const once = [...new Map(names.map((name) => [name.as, name])).values()];
      return [home, Map.groupBy(once, ({ from }) => homeOf(from))];
    }),
  );
}

function importedNames(list) {
  return list
    .split(",")
    .map((part) => part.trim().split(" as ")[0])
    .filter((name) => name !== "");
}

/** Joins the texts whose home is `home` into one file. What is in other files is taken from them once, when the file is loaded. */
async function toCommonJs(home, contents, { texts, homeOf, borrowed }) {
  const fileFrom = (path) => {
    const found = relative(dirname(home), path);
    return found.startsWith(".") ? found : `./${found}`;
  };
  const namesFrom = (lender) => borrowed.get(home).get(lender) ?? [];
  const fromTexts = {
    name: "from-texts",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path, importer, kind }) => {
        const name = join(dirname(importer), path);
        if (kind === "dynamic-import") return { path: fileFrom(homeOf(name)), external: true };
        if (homeOf(name) === home) return { path: name, namespace: "text" };
        return { path: name, namespace: "borrowed" };
      });
      onResolve({ filter: /^lender:/ }, ({ path }) => ({ path: path.slice("lender:".length), namespace: "lender" }));
      onResolve({ filter: /\.cjs$/ }, ({ path }) => ({ path: fileFrom(path.replace(/^\.\//, "")), external: true }));
      // The first step has bundled all packages except those that the user installs.
      onResolve({ filter: /^[^./]/ }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /./, namespace: "text" }, ({ path }) => ({ contents: texts.get(path) }));
      onLoad({ filter: /./, namespace: "borrowed" }, ({ path }) => {
        const names = namesFrom(homeOf(path)).filter(({ from }) => from === path);
        return {
          contents: `export {${names.map(({ name, as }) => `${as} as ${name}`)}} from "lender:${homeOf(path)}";`,
        };
      });
      onLoad({ filter: /./, namespace: "lender" }, ({ path: lender }) => {
        const names = namesFrom(lender).map(({ as }, at) => `${at}: ${as}`);
        const loaded = `require("${lender}")`;
        // Without names, it is only loaded.
        return { contents: names.length > 0 ? `export const {${names}} = ${loaded}.lend["${home}"]();` : loaded };
      });
    },
  };
  const { outputFiles } = await build({
    stdin: { contents, sourcefile: "." },
    write: false,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    minify: true,
    // Node prints the line of an error that nobody catches.
    lineLimit: 160,
    // import() would start the ESM loader. Commands are still loaded only when they are called.
    supported: { "dynamic-import": false },
    define: { "import.meta.filename": "__filename" },
    logLevel: "warning",
    plugins: [fromTexts],
  });
  return asciiOnly(outputFiles[0].text);
}

/**
 * Files that compiled-code.ts loads are read byte by byte. esbuild escapes strings but not regular expressions; an escape means the same
 * in both.
 */
export function asciiOnly(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A hash of these texts, for the names of compiled code. */
export function hashOf(texts) {
  return createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 16);
}
