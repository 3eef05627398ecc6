/**
 * Loads `node:sqlite` without its ExperimentalWarning (Node 22 prints one; 24 does not). Only that warning is dropped, and only
 * while the module loads.
 *
 * Uses `getBuiltinModule` instead of `import`: ESM loads a builtin while imports are linked, so the warning would be printed
 * before any of our code runs.
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
