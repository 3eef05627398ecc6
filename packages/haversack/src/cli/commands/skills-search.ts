import { searchSkills } from "../../engine/search-skills.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about: "Finds skills by what you need, best first.",
  arguments: [{ name: "TEXT", about: "what you need, in your own words", required: true, many: true }],
  options: { limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 10)." } },
  examples: [{ run: "haversack skills search fill a pdf form", says: "the nearest ten" }],
  json: "[{id, name, confidence, reasons, disclosure: none, brief}], best first.",
};

export function run(call: Call): ExitCode {
  const { limit = 10 } = call.options as { limit?: number };
  const found = searchSkills(call.arguments.join(" "), openSkills(call), { limit, forPeople: true });
  print(call, found, () => {
    if (found.length === 0) return "No skill has any of these words.";
    const width = Math.min(40, Math.max(...found.map(({ id }) => id.length)));
    return found
      .map(({ id, confidence, brief }) => `${confidence.toFixed(2)}  ${id.padEnd(width)}  ${brief}`)
      .join("\n");
  });
  return found.length > 0 ? 0 : 1;
}
