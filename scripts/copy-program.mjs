// Copies the built program into the clients' packages: the hook, the MCP server, and the commands that their hooks and slash commands call.
// The other commands come with the npm package; with all of them, each package would be three times as large.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const COMMANDS = ["mcp", "doctor", "skills-index"];

/** `without`: files that this client never starts. */
export function copyProgram(dist, folder, { without = [] } = {}) {
  const missing = COMMANDS.filter((name) => !existsSync(join(dist, `command-${name}.cjs`)));
  if (missing.length > 0) throw new Error(`the build has no file for ${missing.join(", ")}`);
  const files = new Set(["THIRD-PARTY-NOTICES.txt"]);
  const add = (file) => {
    const [, command] = /^command-(.+)\.cjs$/.exec(file) ?? [];
    if (files.has(file) || (command && !COMMANDS.includes(command))) return;
    files.add(file);
    // The files that it loads, at once or later.
    for (const [, path] of readFileSync(join(dist, file), "utf8").matchAll(/require\("(\.[^"]+\.cjs)"\)/g)) {
      add(join(dirname(file), path));
    }
  };
  for (const file of readdirSync(dist)) if (file.endsWith(".cjs") && !without.includes(file)) add(file);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(dist, file), join(folder, file));
  }
}
