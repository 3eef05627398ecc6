import { SqliteLocalStore } from "../../store/sqlite/sqlite-local-store.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { columns } from "../help.ts";
import { openProject, readStore } from "../project.ts";

export const spec: CommandSpec = {
  about: "Lists the sessions that hooks have seen in this project, newest first.",
  options: { limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 20)." } },
  examples: [{ run: "haversack session list", says: "the last 20 sessions" }],
  json: "{sessions: [{sessionId, agentId, client, cwd, startedAt, lastSeenAt, window, promptCount, lastPromptAt, endedAt}]}.",
};

export function run(call: Call): ExitCode {
  const { paths } = openProject(call);
  const { limit = 20 } = call.options as { limit?: number };
  const sessions = new SqliteLocalStore(readStore(call, paths)).listSessions({ limit });
  print(call, { sessions }, () => {
    if (sessions.length === 0) return "No session was seen here yet.";
    return columns(
      sessions.map(({ sessionId, agentId, client, promptCount, lastSeenAt }) => [
        agentId ? `${sessionId}/${agentId}` : sessionId,
        `${client}, ${promptCount} ${promptCount === 1 ? "prompt" : "prompts"}, last seen ${lastSeenAt.toISOString().slice(0, 16).replace("T", " ")}`,
      ]),
    );
  });
  return 0;
}
