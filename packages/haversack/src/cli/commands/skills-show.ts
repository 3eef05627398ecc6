import { HaversackError } from "../../base/errors.ts";
import { loadSkill } from "../../engine/load-skill.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about:
    "Prints a skill's text, after the skills it requires, and lists its resources. With --session it comes once per window, then a one-line note.",
  arguments: [{ name: "NAME", about: "the skill, such as api-errors or plugin:api-errors", required: true }],
  options: {
    session: { type: "string", value: "ID", about: "Record it as loaded in this session." },
    agent: { type: "string", value: "ID", about: "The sub-agent in that session." },
    reload: { type: "boolean", about: "Print it again although the window has it." },
    "no-resources": { type: "boolean", about: "Do not list its resources." },
    resource: { type: "string", value: "PATH", about: "Print this file of the skill's folder instead." },
  },
  examples: [
    { run: "haversack skills show api-errors", says: "its text" },
    { run: "haversack skills show api-errors --resource references/codes.md", says: "one of its files" },
  ],
  json: "{kind: loaded|already-loaded|unknown, id, text, hash, tokens, resources: {reference, assets, scripts}, requires, hasChanged, nearest}; with --resource {id, resource, text}.",
};

export function run(call: Call): ExitCode {
  const { options } = call;
  const [name = ""] = call.arguments;
  const resource = options["resource"] as string | undefined;
  // A file of the skill is not its body: the window is not told that it has that.
  const sessionId = resource === undefined ? (options["session"] as string | undefined) : undefined;
  const open = openSkills(call, { store: sessionId ? "keep" : "read" });
  const loaded = loadSkill(
    {
      name,
      at: new Date(),
      reload: options["reload"] === true,
      includeResources: options["no-resources"] !== true,
      ...(sessionId && { session: { sessionId, agentId: (options["agent"] as string | undefined) ?? "" } }),
    },
    open,
  );
  if (loaded.kind === "unknown") {
    if (call.json) print(call, loaded, () => "");
    else call.io.err(`${loaded.text}\n`);
    return 1;
  }
  if (resource !== undefined) {
    const read = open.readResource(loaded.id, resource);
    if ("problem" in read) throw new HaversackError("not-found", read.problem);
    print(call, { id: loaded.id, resource, text: read.text }, () => read.text);
    return 0;
  }
  print(call, loaded, () => loaded.text);
  return 0;
}
