import { readSection } from "../../engine/artifacts/artifact-refs.ts";
import { asUsage } from "../artifacts.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Prints one section of a Markdown file, with everything nested in it: by heading, by the number or label it begins with, or by anchor. If several headings match, HEADING:2 is the second.",
  arguments: [
    { name: "FILE", about: "a Markdown file, or FILE#HEADING", required: true },
    { name: "HEADING", about: "such as 'Error handling', 2.3, I7, '#I7' or '#error-handling'" },
  ],
  examples: [
    { run: "haversack artifacts section design.md 'Error handling'", says: "by its heading" },
    { run: "haversack artifacts section plan.md 2.3", says: "by its number" },
    { run: "haversack artifacts section design.md#C1", says: "as tasks refer to it" },
  ],
  json: "{file, heading, line, lines, text}.",
};

export function run(call: Call): Promise<ExitCode> {
  const [file = "", heading] = call.arguments;
  return asUsage(() => {
    const { paths } = findProject(call);
    const section = readSection({ file, heading }, { cwd: call.io.cwd, paths, isAnywhere: true });
    const { path, line, lineCount, text } = section;
    print(call, { file: path, heading: section.heading, line, lines: lineCount, text }, () => text);
    return 0;
  });
}
