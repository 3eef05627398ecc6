// Builds the program that a client starts for an event: `hook.cjs`, which loads `hook-events.cjs`, and the chunks that only some events
// need. The sources use ordinary imports; only this file defines the chunks.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { asciiOnly, hashOf, importsOf, joinInto } from "./bundle.mjs";

/** The chunk that every event loads. */
const FIRST = "hook-events";

/** Also contains what several other chunks need, and not the first file. */
const SHARED = "hook-work";

/**
 * Chunks that are loaded when one of their functions is first called: V8 takes about 1 ms per 100 kB of code, even if it is already
 * compiled, and no event needs all of it. A path that ends in / is a folder.
 */
const PARTS = {
  /** Not only what its entry imports: prompts and other events need these. */
  [FIRST]: ["base/mask.ts", "skills/matching/run-patterns.ts"],
  /**
   * Records tool calls, and keeps long outputs: both read errors and test results, which no other event needs. Masks secrets, of which
   * few prompts may hold one.
   */
  "hook-tool": ["engine/events/record-tool.ts", "engine/outputs/", "base/mask/found-secrets.ts"],
  /** Finds the skills that fit a prompt. */
  "hook-prompt": ["engine/discover.ts"],
  /** Makes the text for a session's start. Reads transcripts, which prompts and tool calls seldom need. */
  "hook-wake": [
    "clients/claude-code/transcripts.ts",
    "engine/events/start-session.ts",
    "engine/refresh-index.ts",
    "engine/wake/",
    "store/sqlite/work/events/wake-overview.ts",
    "store/sqlite/work/events/wake-state.ts",
    "store/sqlite/work/events/wake-work.ts",
  ],
  /** Work, and what a session was shown: for tool calls, starts and ends. Prompts do without. */
  [SHARED]: [
    "engine/work/actor.ts",
    "store/sqlite/outbox/outbox.ts",
    "store/sqlite/sessions/session-state.ts",
    "store/sqlite/skills/skill-ledger.ts",
    "store/sqlite/work/events/session-tasks.ts",
    "store/sqlite/work/rows.ts",
  ],
  /** Other clients than the most common one. */
  "hook-codex": ["clients/codex/adapter.ts"],
  "hook-gemini": ["clients/gemini/adapter.ts"],
  /** Writes files: the log, and what V8 has compiled. */
  "hook-files": ["base/log.ts", "base/safe-write.ts"],
  /** Ends, sub-agents, guards, changes in git, the spool, packages that do nothing because `init` has wired the client, a removed server. */
  "hook-rest": [
    "clients/claude-code/observation.ts",
    "clients/own-wiring.ts",
    "clients/use-commands.ts",
    "engine/events/later-events.ts",
    "engine/artifacts/watch-reader.ts",
    "engine/work/git-changes.ts",
    "store/sqlite/spool/save-entry.ts",
    "store/sqlite/spool/spool-files.ts",
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
  const first = { files: new Set(), isKnown: false };
  const esm = { ...shared, format: "esm", target: "node22", outdir: dist, write: false, splitting: true };
  const cut = { ...esm, chunkNames: "shared-[hash]", plugins: [cutAt(src, { borders, first })] };
  const entryOfFirst = { [FIRST]: entry("hook-events") };
  const { [FIRST]: _, ...rest } = PARTS;
  const later = Object.fromEntries(Object.keys(rest).map((part) => [part, `part:${part}`]));
  // The first build finds what crosses the chunk borders; the second finds which chunks need it from each other. Until then, a file that
  // two others import lacks the names that the second one imports, which is an error. The last build must have no errors.
  for (let size = -1; size < sizeOf(borders); ) {
    size = sizeOf(borders);
    const entryPoints = first.isKnown ? { ...entryOfFirst, ...later } : entryOfFirst;
    await build({ ...cut, entryPoints, logLevel: "silent" }).catch(() => undefined);
    first.isKnown = true;
  }
  const parts = await build({ ...cut, entryPoints: { ...entryOfFirst, ...later } });
  const texts = new Map(parts.outputFiles.map(({ path, text }) => [relative(dist, path), withoutBareImports(text)]));
  const entries = new Set(Object.keys({ ...entryOfFirst, ...later }).map((name) => `${name}.js`));
  // Each module exists once: in the first file if that needs it, in a chunk if no other one needs it, else in the shared chunk. Long ones
  // that several chunks need get a file each, with what needs them.
  const users = new Map([...entries].map((entry) => [entry, new Set(importsOf(entry, texts))]));
  const usersOf = (name) => [...entries].filter((entry) => entry === name || users.get(entry).has(name));
  const isOfFirst = (name) => usersOf(name).includes(`${FIRST}.js`) || listedIn(name) === FIRST;
  const inputs = new Map(
    Object.entries(parts.metafile.outputs).map(([path, output]) => [
      relative(dist, resolve(path)),
      Object.keys(output.inputs),
    ]),
  );
  const listedIn = (name) =>
    inputs
      .get(name)
      .map((path) => partOf(src, resolve(path)))
      .find(Boolean);
  const isShared = (name) => usersOf(name).length > 1 && !isOfFirst(name) && !listedIn(name);
  const isLong = (name) => isShared(name) && texts.get(name).length >= LONG_CHARS;
  const long = [...texts.keys()].filter(isLong);
  const homeOf = (name) => {
    if (isOfFirst(name)) return `${FIRST}.cjs`;
    const [user, another] = usersOf(name);
    if (!another) return user.replace(/js$/, "cjs");
    const [found] = [name, ...importsOf(name, texts)].filter(isLong);
    return found ? `hook-more-${long.indexOf(found) + 1}.cjs` : `${listedIn(name) ?? SHARED}.cjs`;
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

/** The chunk that a file is listed for. */
function partOf(src, file) {
  const within = (path) => (path.endsWith("/") ? file.startsWith(join(src, path)) : file === join(src, path));
  return Object.keys(PARTS).find((part) => PARTS[part].some(within));
}

/**
 * Replaces imports from another chunk by functions that load it on the first call. A file that is in no list and not in the first chunk
 * goes where it is needed, so it imports what it needs.
 */
function cutAt(src, { borders, first }) {
  return {
    name: "cut",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, importer, namespace }) => {
        const file = join(resolveDir, path);
        if (UNUSED[relative(src, importer)] === path) return { path: "unused", namespace: "unused" };
        if (namespace !== "file") return undefined;
        if (!first.isKnown) first.files.add(importer);
        const part = partOf(src, file);
        const own = partOf(src, importer);
        const isOfFirst = first.files.has(importer);
        const values = part && importedValues(importer, { path, file });
        if (isOfFirst && values?.some(([, write]) => !write))
          throw new Error(`${importer}: ${path} holds what is no function`);
        const isCut = part && part !== FIRST && part !== own && (part !== SHARED || isOfFirst || own);
        if (!isCut || values.some(([, write]) => !write)) return { path: file, sideEffects: false };
        borders.set(file, new Map([...(borders.get(file) ?? []), ...values]));
        return { path: file, namespace: "border" };
      });
      onLoad({ filter: /./, namespace: "border" }, ({ path }) => ({
        contents: [...borders.get(path)]
          .map(([name, write]) => write(`require("./${partOf(src, path)}.cjs").${name}`))
          .join("\n"),
      }));
      // Throws if it is used after all.
      onLoad({ filter: /./, namespace: "unused" }, () => ({ contents: "export const migrations = undefined;" }));
      onResolve({ filter: /^\.\/.*\.cjs$/ }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^part:/ }, ({ path }) => ({ path: path.slice("part:".length), namespace: "part" }));
      onLoad({ filter: /./, namespace: "part" }, ({ path: part }) => ({
        contents: [...borders]
          .filter(([file]) => partOf(src, file) === part)
          .map(([file, names]) => `export { ${[...names.keys()].join(", ")} } from ${JSON.stringify(file)};`)
          .join("\n"),
        resolveDir: src,
      }));
    },
  };
}

/**
 * The values that one file imports from another, each with what stands for it on this side of the border: a function for a function, a
 * constructor for a class of which only instances are made, the value of a short constant.
 */
function importedValues(importer, { path, file }) {
  const source = readFileSync(importer, "utf8");
  const clause = new RegExp(`^import \\{([^}]*)\\} from "${path}";$`, "m").exec(source)?.[1];
  const names = (clause ?? "").split(",").map((name) => name.trim());
  const values = names.filter((name) => name && !name.startsWith("type "));
  const text = readFileSync(file, "utf8");
  return values.map((name) => {
    if (new RegExp(`\nexport function ${name}[(<]`).test(text)) {
      return [name, (loaded) => `export const ${name} = (...args) => ${loaded}(...args);`];
    }
    const isMade = !new RegExp(`(?:instanceof|extends) ${name}\\b|\\b${name}\\.`).test(source);
    if (isMade && new RegExp(`\nexport class ${name}\\b`).test(text)) {
      return [name, (loaded) => `export class ${name} { constructor(...args) { return new (${loaded})(...args); } }`];
    }
    const [, literal] = new RegExp(`\nexport const ${name} = ("[^"]*"|[\\d_]+);`).exec(text) ?? [];
    if (literal) return [name, () => `export const ${name} = ${literal};`];
    return [name, undefined];
  });
}

/**
 * V8 gives a text of this length a place of its own. A shorter one lies where new objects go, and its room there is enough to cause a
 * garbage collection: 0.7 ms.
 */
const LARGE_TEXT = 131_072;

function write(dist, files) {
  const texts = files.map(([name, text]) => {
    const guarded = `${oldRuntimeGuard}\n${text}`;
    return [name, guarded.length > LARGE_TEXT / 2 ? guarded.padEnd(LARGE_TEXT) : guarded];
  });
  // Part of the bytecode's name, because it is valid only for these texts.
  const hookBuild = hashOf(texts);
  for (const [name, text] of texts) {
    writeFileSync(join(dist, name), text.replaceAll("__HOOK_BUILD__", `"${hookBuild}"`));
  }
}
