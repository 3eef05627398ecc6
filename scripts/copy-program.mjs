// The built program as the clients' packages hold it: the hook, the MCP server, and the commands that their hooks and slash commands call.
// The others come with the npm package; a copy of all of them would make each package three times as large.
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const COMMANDS = ["mcp", "doctor", "skills-index"];

/** `without`: files that this client never starts. */
export function copyProgram(dist, folder, { without = [] } = {}) {
  const files = new Set(["THIRD-PARTY-NOTICES.txt"]);
  const add = (file) => {
    if (files.has(file) || (dirname(file) === "commands" && !COMMANDS.includes(basename(file, ".cjs")))) return;
    files.add(file);
    // What it loads, at once or later.
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
