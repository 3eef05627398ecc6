import { cleanLine } from "../../base/clean-text.ts";
import { listAgents } from "../../engine/wake/agents.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { formatAgo, table } from "../print-work.ts";
import { withWork } from "../work.ts";

export const spec: CommandSpec = {
  about: "Lists the agents of this project by name, with the session that each was seen in last.",
  examples: [{ run: "haversack agent list", says: "who there is" }],
  json: "[{name, role, branch?, client?, session_id?, worktree?, created_at, last_seen_at?}].",
};

export function run(call: Call): Promise<ExitCode> {
  return withWork(call, async (work) => {
    const { agents, views } = await listAgents(work);
    print(call, views, () => {
      if (agents.length === 0) return "No agents yet; `haversack agent add NAME --role ROLE` names one.";
      const rows = agents.map(({ name, role, branch, client, sessionId, lastSeenAt }) => [
        { text: `@${name}` },
        { text: cleanLine(role) },
        { text: branch === undefined ? "" : cleanLine(branch) },
        { text: client ?? "", style: "dim" as const },
        { text: sessionId === undefined ? "" : cleanLine(sessionId), style: "dim" as const },
        { text: lastSeenAt ? `seen ${formatAgo(lastSeenAt, work.by.at)}` : "never seen", style: "dim" as const },
      ]);
      return table(call.io, rows).join("\n");
    });
    return 0;
  });
}
