import { existsSync } from "node:fs";
import { join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { makeFolder, putNewFile } from "../../base/safe-write.ts";
import { ensureStateFolder } from "../../engine/project.ts";
import { templateDescription } from "../../skills/lint-skill.ts";
import { type Call, type CommandSpec, type ExitCode, option, print } from "../command.ts";
import { findProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Creates a skill in the shape that loads cheaply: a short core, a quick reference, and references that are read on demand.",
  arguments: [{ name: "NAME", about: "lower-case letters, digits and hyphens", required: true }],
  options: {
    description: option("TEXT", "When to use it, in one or two sentences."),
    in: option("FOLDER", "Where (default .claude/skills).", {
      choices: [".claude/skills", ".agents/skills", ".haversack/skills"],
    }),
  },
  examples: [
    {
      run: 'haversack skill new api-errors --description "Use when an endpoint reports errors."',
      says: "makes .claude/skills/api-errors/",
    },
  ],
  json: "{name, folder, files}.",
};

export function run(call: Call): ExitCode {
  const [name = ""] = call.arguments;
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length > 64) {
    throw new HaversackError(
      "usage",
      `"${name}" is not a valid skill name: use 1 to 64 characters of a-z, 0-9 and single hyphens`,
    );
  }
  const { paths } = findProject(call);
  const folder = join(paths.root, String(call.options["in"] ?? ".claude/skills"), name);
  if (existsSync(folder)) {
    throw new HaversackError("refused", `${folder} already exists; nothing was changed`);
  }
  if (folder.startsWith(paths.state)) ensureStateFolder(paths);
  const description = String(call.options["description"] ?? templateDescription(name));
  const files = skeleton(name, description);
  const place = { within: paths.root };
  makeFolder(join(folder, "references"), place);
  for (const [file, text] of Object.entries(files)) putNewFile(join(folder, file), text, place);
  print(
    call,
    { name, folder, files: Object.keys(files) },
    () => `Made ${folder} with ${Object.keys(files).join(", ")}.`,
  );
  return 0;
}

function skeleton(name: string, description: string): Record<string, string> {
  const title = name.split("-").join(" ");
  return {
    "SKILL.md": `---
name: ${name}
description: ${JSON.stringify(description)}
metadata:
  tags: ""
---

# ${title[0]?.toUpperCase()}${title.slice(1)}

What must be known in every case, in at most 50 lines: the steps, the order, the traps.

1. …
2. …

## Details on demand

- \`quick-reference.md\`: the cheat sheet
- \`references/details.md\`: read it when …
`,
    "quick-reference.md": `# ${name}: quick reference\n\n| when | do |\n|---|---|\n| … | … |\n`,
    "references/details.md": `# ${name}: details\n\nThe depth that is read only when it is needed.\n`,
  };
}
