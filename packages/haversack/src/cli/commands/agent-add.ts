import { HaversackError } from "../../base/errors.ts";
import { addAgent } from "../../engine/wake/agents.ts";
import { PROFILES } from "../../skills/activation.ts";
import { ROLES } from "../../wake/state.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
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
      about: `Required: ${oneOf(ROLES)}, or one with a template in .haversack/templates/.`,
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
    const { agent, view } = await addAgent({ name, role, ...options }, work);
    print(call, view, () => `@${agent.name} is ${agent.role}${agent.branch ? ` on ${agent.branch}` : ""}.`);
    return 0;
  });
}
