// Only src/base/safe-write.ts may change files: it follows no link from a repository. All other code below src/ may import only
// functions that read.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const WRITERS = { "base/safe-write.ts": "the one place that writes" };

/** `writeSync` and the like need a descriptor, and only safe-write.ts opens one for writing. */
const HARMLESS = new Set(
  `accessSync closeSync constants existsSync fstatSync fsyncSync ftruncateSync lstatSync openSync readdirSync readFileSync readlinkSync
   readSync realpathSync statfsSync statSync writeSync`.split(/\s+/),
);

/** Writes that bypass safe-write.ts, one line each. */
export function strayWrites(src) {
  return readdirSync(src, { recursive: true })
    .filter((path) => path.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(path) && !WRITERS[path])
    .flatMap((path) => writesIn(readFileSync(join(src, path), "utf8")).map((what) => `${path}: ${what}`));
}

/** The code in a source file that could change a file. */
export function writesIn(source) {
  const text = source.replace(/^\s*(?:\/\/|\/?\*).*$/gm, "");
  const found = [];
  const lists = [
    ...text.matchAll(/import\s+(type\s+)?\{([^}]*)\}\s*from\s*["'](?:node:)?fs["']/g),
    ...text.matchAll(/const\s+()\{([^}]*)\}\s*=\s*(?:process\.getBuiltinModule|require)\(["'](?:node:)?fs["']\)/g),
  ];
  for (const [, isType, names] of lists) {
    for (const name of isType ? [] : names.split(",").map((one) => one.trim())) {
      const [imported = ""] = name.split(/\s+as\s+|:/);
      if (imported && !imported.startsWith("type ") && !HARMLESS.has(imported.trim()))
        found.push(`imports ${imported} of fs`);
      if (imported === "openSync" && name !== imported) found.push("gives openSync another name");
    }
  }
  const mentions = [...text.matchAll(/["'](?:node:)?fs(?:\/promises)?["']/g)].length;
  if (mentions > lists.length) found.push("loads fs as a whole, or fs/promises");
  // Match the whole call, because the flags are in its second argument.
  for (const [call] of text.matchAll(/\bopenSync\((?!\))[^;]*;/g)) {
    if (!/,\s*(?:"r"|(?:constants\.)?O_RDONLY\b)/.test(call) || /O_(?:WRONLY|RDWR|CREAT|APPEND|TRUNC)/.test(call)) {
      found.push("opens a file, and not only to read it");
    }
  }
  if (/\bBun\.(?:write|file)\b/.test(text)) found.push("writes with Bun");
  return found;
}
