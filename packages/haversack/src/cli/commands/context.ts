import { type Call, type CommandSpec, type ExitCode, option } from "../command.ts";
import { noSession } from "../project.ts";
import { openSkills } from "../skills.ts";

export const spec: CommandSpec = {
  about: "Prints what a session's current window has been shown of skills, as JSON.",
  options: {
    session: option("ID", "The session (default: the one seen last)."),
    "sub-agent": option("ID", "The sub-agent in that session."),
  },
  oldOptions: { agent: "sub-agent" },
  examples: [{ run: "haversack context --session s1", says: "its skill tracking" }],
  json: "the same document: {skillTracking: {recommended, used, sessionStart, sessionId, lastPromptTime, promptCount, domainHistory}}.",
};

export function run(call: Call): ExitCode {
  const { ledger, sessions } = openSkills(call, { refresh: false });
  const { session, "sub-agent": agent } = call.options as { session?: string; "sub-agent"?: string };
  const last = session === undefined ? sessions.listSessions({ limit: 1 })[0] : undefined;
  const sessionId = session ?? last?.sessionId;
  const skillTracking = sessionId && ledger.context({ sessionId, agentId: agent ?? last?.agentId ?? "" });
  if (!skillTracking) throw noSession(sessionId);
  call.io.out(`${JSON.stringify({ skillTracking }, null, call.json ? undefined : 2)}\n`);
  return 0;
}
