// The built program as the clients' packages hold it: the hook, the MCP server, and the commands that their hooks and slash commands call.
// The others come with the npm package; a copy of all of them would make each package three times as large.
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

const COMMANDS = ["mcp", "doctor", "skills-index"];

/** `without`: files that this client never starts. */
export function copyProgram(dist, folder, { without = [] } = {}) {
  mkdirSync(join(folder, "commands"), { recursive: true });
  const bins = readdirSync(dist).filter((file) => file.endsWith(".cjs") && !without.includes(file));
  const files = [...bins, ...COMMANDS.map((name) => `commands/${name}.cjs`), "THIRD-PARTY-NOTICES.txt"];
  for (const file of files) cpSync(join(dist, file), join(folder, file));
}
