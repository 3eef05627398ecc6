import { existsSync } from "node:fs";
import { join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { addAgent } from "../../engine/wake/agents.ts";
import { PROFILES } from "../../skills/showing/activation.ts";
import { ROLES } from "../../wake/state.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { noteLines } from "../wake.ts";
import { inputOf, withWork } from "../work.ts";
import { oneOf } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Names an agent, so that it can be sent messages and woken, and gives it a role. Sessions that are started with HAVERSACK_AGENT=NAME are that agent, and what is claimed with --agent NAME is its. The same name again changes what is given.",
  arguments: [{ name: "NAME", about: 'letters, digits, ".", "_" and "-", 64 at most', required: true }],
  options: {
    role: {
      type: "string",
      value: "ROLE",
      about: `Required: ${oneOf(ROLES)}, or a word of your own with a template in .haversack/templates/.`,
    },
    branch: { type: "string", value: "NAME", about: "Only on this branch; another may have the name (default: all)." },
    client: {
      type: "string",
      value: "NAME",
      choices: Object.keys(PROFILES).filter((name) => name !== "plain"),
      about: "The coding client that it is (default: the one it is first seen in).",
    },
    worktree: { type: "string", value: "FOLDER", about: "Where it works." },
  },
  examples: [
    { run: "haversack agent add june --role orchestrator", says: "then HAVERSACK_AGENT=june claude" },
    { run: "haversack agent add backend --role implementer --branch auth", says: "one for a branch" },
  ],
  json: "{name, role, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}.",
};

type Input = Parameters<typeof addAgent>[0];

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [name = ""] = call.arguments;
    const { role, ...options } = inputOf<Input>(call, {
      role: "role",
      branch: "branch",
      client: "client",
      worktree: "worktree",
    });
    if (role === undefined) throw new HaversackError("usage", `agent add needs --role: ${oneOf(ROLES)}`);
    const { agent, view, hint } = await addAgent({ name, role, ...options }, work);
    print(call, view, () => `@${agent.name} is ${agent.role}${agent.branch ? ` on ${agent.branch}` : ""}.`);
    const template = `.haversack/templates/${agent.role}.md`;
    if (hint !== undefined && !call.json && !existsSync(join(work.paths.root, template))) {
      noteLines(call, [
        `${agent.role} is no shipped role; did you mean ${hint}? A role of yours has its text in ${template}`,
      ]);
    }
    return 0;
  });
}
