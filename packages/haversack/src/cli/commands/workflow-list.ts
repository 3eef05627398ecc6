import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { shippedWorkflows } from "../workflows.ts";

export const spec: CommandSpec = {
  about:
    "Lists the example workflows that come with Haversack: skills that call one another, to be changed as you like.",
  examples: [{ run: "haversack workflow list", says: "what can be added" }],
  json: "[{name, title, skills}].",
};

export function run(call: Call): ExitCode {
  const workflows = shippedWorkflows();
  print(
    call,
    workflows.map(({ name, title, skills }) => ({ name, title, skills })),
    () =>
      workflows
        .map(({ name, title, skills }) => [`${name}: ${title}`, ...skills.map((skill) => `  ${skill}`)].join("\n"))
        .join("\n\n"),
  );
  return 0;
}
