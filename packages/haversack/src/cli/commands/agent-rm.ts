import { removeAgent } from "../../engine/wake/agents.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { AGENT_NAME, BRANCH, branchOf } from "../wake.ts";
import { refuse, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

export const spec: CommandSpec = {
  about:
    "Removes an agent's name: it gets no more messages and is no longer listed. Its messages, handoffs and history stay, and it is back, with its inbox, when it is added again or a session starts under its name. Refused while it holds tasks.",
  arguments: [AGENT_NAME],
  options: {
    force: { type: "boolean", about: "Remove it even if it holds tasks; they go back to the queue with a note." },
    branch: BRANCH,
    agent: { ...AGENT, about: "Who removes it (default: HAVERSACK_AGENT, else you)." },
  },
  examples: [
    { run: "haversack agent rm june", says: "refused while june holds tasks" },
    { run: "haversack agent rm june --force", says: "june's tasks go back to the queue" },
  ],
  json: "{name, removed: true, released?: [task ids], unread?}.",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const [name = ""] = call.arguments;
    const isForced = call.options["force"] === true;
    const outcome = await removeAgent({ name, branch: branchOf(call), isForced }, work);
    if (outcome.kind === "refused") return refuse(call, outcome);
    const { agent, released, unread } = outcome;
    print(call, outcome.view, () =>
      [
        `Removed @${agent.name}.`,
        ...(released.length > 0 ? [`Back in the queue: ${released.join(", ")}.`] : []),
        ...(unread > 0 ? [`${unread} unread ${unread === 1 ? "message stays" : "messages stay"} stored.`] : []),
      ].join("\n"),
    );
    return 0;
  });
}
