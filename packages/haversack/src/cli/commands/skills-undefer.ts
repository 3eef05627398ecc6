import { basename } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { undeferSkills } from "../../engine/defer-skills.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { type DeferOptions, formatDefer, requireDeferral } from "../defer.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about: "Puts skills back into the client's own listing. Takes out only what `haversack skills defer` wrote.",
  arguments: [{ name: "NAME", about: "skills to list again", many: true }],
  options: {
    all: { type: "boolean", about: "Every skill that was deferred." },
    "dry-run": { type: "boolean", about: "Show what would be written, write nothing." },
  },
  examples: [{ run: "haversack skills undefer --all", says: "the listing as it was" }],
  json: "{client, file, skills: [name], skipped: [{name, why}], changed}.",
};

export function run(call: Call): ExitCode {
  const { all = false, "dry-run": isDryRun = false } = call.options as DeferOptions;
  if (all === call.arguments.length > 0) throw new HaversackError("usage", "name skills, or give --all");
  const { paths, index } = openSkills(call);
  const { client, deferral } = requireDeferral(call);
  // The client knows a skill by its folder; a person may know it by its name.
  const keys = call.arguments.map((name) => {
    const folder = index.card(name)?.folder;
    return folder ? basename(folder) : name;
  });
  const report = undeferSkills(all ? undefined : keys, deferral, { folder: paths.state, isDryRun });
  const { file, skills, skipped, isChanged } = report;
  print(call, { client: client.name, file, skills, skipped, changed: isChanged && !isDryRun }, () =>
    formatDefer({
      skills,
      skipped,
      headline: (count) => `${count} back in the listing (${file}).`,
      isChanged,
      isDryRun,
    }),
  );
  return 0;
}
