import { HaversackError } from "../../base/errors.ts";
import { SessionState } from "../../store/sqlite/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sqlite-local-store.ts";
import { formatWip } from "../../work/format-wip.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openProject, openStore } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Shows what a session is in the middle of, as hooks captured it: files, tests, errors, the last commit, its plan and the next step.",
  options: {
    session: { type: "string", value: "ID", about: "The session (default: the one seen last)." },
    agent: { type: "string", value: "ID", about: "The sub-agent in that session." },
  },
  examples: [{ run: "haversack wip show --session s1 --json", says: "for a script" }],
  json: "{sessionId, agentId, updatedAt, wip}: wip is null when nothing was captured.",
};

export function run(call: Call): ExitCode {
  const { paths } = openProject(call);
  const handle = openStore(paths, "normal");
  const sessions = new SqliteLocalStore(handle);
  const sessionId =
    (call.options["session"] as string | undefined) ?? sessions.listSessions({ limit: 1 })[0]?.sessionId;
  const agentId = (call.options["agent"] as string | undefined) ?? "";
  if (!sessionId || !sessions.getSession({ sessionId, agentId })) {
    const text = sessionId
      ? `no session ${sessionId}${agentId && `/${agentId}`} was seen here`
      : "no session was seen here yet";
    throw new HaversackError("not-found", text, { hint: "`haversack session list` shows them" });
  }
  const found = new SessionState(handle).wip({ sessionId, agentId });
  print(
    call,
    { sessionId, agentId, updatedAt: found?.updatedAt ?? null, wip: found?.data ?? null },
    () => (found && formatWip(found.data)) || "Nothing was captured.",
  );
  return 0;
}
