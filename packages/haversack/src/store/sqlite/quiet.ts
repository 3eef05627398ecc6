/**
 * `node:sqlite`, loaded without its ExperimentalWarning (Node 22 prints one; 24 does not). Only that one
 * warning is dropped, and only while the module loads.
 *
 * It is fetched with `getBuiltinModule` and not with `import`: as ESM a builtin is loaded while the imports are
 * linked, so the warning would be out before any line of ours runs.
 */
export const sqlite = loadQuietly();

function loadQuietly(): typeof import("node:sqlite") {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite is an experimental feature")) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof emitWarning;
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
