import { cleanLine } from "../../base/clean-text.ts";
import { type ListAgentsInput, listAgents } from "../../engine/wake/agents.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import { formatAgo, printList } from "../print-work.ts";
import { inputOf, readWork } from "../work.ts";
import { listOptions } from "../work-options.ts";

export const spec: CommandSpec = {
  about: "Lists the agents of this project by name, with the session that each was seen in last.",
  options: listOptions(50),
  examples: [{ run: "haversack agent list", says: "who there is" }],
  json: "[{name, role?, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}]. What was left out is said on standard error.",
};

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const input = inputOf<ListAgentsInput>(call, { limit: "limit", offset: "offset", maxTokens: "max-tokens" });
    printList(call, {
      command: "agent list",
      nouns: ["agent", "agents"],
      listed: await listAgents(input, work),
      row: ({ name, role, branch, client, sessionId, lastSeenAt }) => [
        { text: `@${name}` },
        { text: role === undefined ? "" : cleanLine(role) },
        { text: branch === undefined ? "" : cleanLine(branch) },
        { text: client ?? "", style: "dim" },
        { text: sessionId === undefined ? "" : cleanLine(sessionId), style: "dim" },
        { text: lastSeenAt ? `seen ${formatAgo(lastSeenAt, work.by.at)}` : "never seen", style: "dim" },
      ],
      none: "No agents yet; `haversack agent add NAME --role ROLE` names one.",
    });
    return 0;
  });
}
