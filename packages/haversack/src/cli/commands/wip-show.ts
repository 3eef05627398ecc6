import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { getWip } from "../../engine/work/update-wip.ts";
import { SessionState, sessionWipHistory } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { WipHistoryEntry } from "../../store/work-store.ts";
import { type Call, type CommandSpec, type ExitCode, type Io, print } from "../command.ts";
import { wipLines } from "../print-wip.ts";
import { formatAgo, table } from "../print-work.ts";
import { openProject } from "../project.ts";
import { readWork } from "../work.ts";

const DEFAULT_ENTRIES = 50;

export const spec: CommandSpec = {
  about:
    "Shows what a task, or a session, is in the middle of: files, tests, errors, the last commit, its plan and the next step. Hooks capture it, agents add to it.",
  arguments: [{ name: "TASK", about: "the task; without it a session" }],
  options: {
    session: { type: "string", value: "ID", about: "The session (default: the one seen last)." },
    agent: { type: "string", value: "ID", about: "The sub-agent in that session." },
    history: { type: "boolean", about: "What was replaced or removed, newest first." },
    limit: {
      type: "integer",
      value: "N",
      minimum: 1,
      about: `How many entries of the history (default ${DEFAULT_ENTRIES}).`,
    },
  },
  examples: [
    { run: "haversack wip show T4829", says: "of a task" },
    { run: "haversack wip show T4829 --history", says: "and what was there before" },
    { run: "haversack wip show --session s1 --json", says: "of a session, for a script" },
  ],
  json: "of a task {id, wip, wip_updated_at?, history?}, of a session {sessionId, agentId, updatedAt, wip, history?}; wip of a session is null when nothing was captured. history: [{at, actor?, path, before?, after?}].",
};

export function run(call: Call): ExitCode | Promise<ExitCode> {
  const { options } = call;
  const [taskId] = call.arguments;
  if (taskId === undefined) return showSession(call);
  if (options["session"] !== undefined || options["agent"] !== undefined)
    throw new HaversackError("usage", "wip show takes a task or a session, not both");
  return showTask(call, taskId);
}

function showTask(call: Call, taskId: string): Promise<ExitCode> {
  return readWork(call, async (work) => {
    const limit = historyLimit(call);
    const { id, wip, updatedAt, history } = await getWip({ taskId, ...(limit && { history: limit }) }, work);
    print(call, { id, wip, ...(updatedAt && { wip_updated_at: updatedAt }), ...(history && { history }) }, () =>
      [
        wipLines(wip).join("\n") || `${id} has no work in progress.`,
        ...(updatedAt ? [`Changed ${formatAgo(updatedAt, work.by.at)}.`] : []),
        ...(history ? formatHistory(call.io, history, work.by.at) : []),
      ].join("\n"),
    );
    return 0;
  });
}

function showSession(call: Call): ExitCode {
  const { handle } = openProject(call, { access: "look" });
  const sessions = new SqliteLocalStore(handle);
  const sessionId =
    (call.options["session"] as string | undefined) ?? sessions.listSessions({ limit: 1 })[0]?.sessionId;
  const agentId = (call.options["agent"] as string | undefined) ?? "";
  if (!sessionId || !sessions.getSession({ sessionId, agentId })) {
    const text = sessionId
      ? `no session ${sessionId}${agentId && `/${agentId}`} was seen here`
      : "no session was seen here yet";
    throw new HaversackError("not-found", text, {
      hint: "`haversack session list` shows them; `haversack wip show TASK` shows a task's",
    });
  }
  const found = new SessionState(handle).wip({ sessionId, agentId });
  const limit = historyLimit(call);
  const history = limit === undefined ? undefined : sessionWipHistory(handle, { sessionId, agentId, limit });
  print(
    call,
    {
      sessionId,
      agentId,
      updatedAt: found?.updatedAt ?? null,
      wip: found?.data ?? null,
      ...(history && { history }),
    },
    () =>
      [
        (found && wipLines(found.data).join("\n")) || "Nothing was captured.",
        ...(history ? formatHistory(call.io, history, new Date()) : []),
      ].join("\n"),
  );
  return 0;
}

function historyLimit({ options }: Call): number | undefined {
  const limit = options["limit"] as number | undefined;
  return options["history"] || limit !== undefined ? (limit ?? DEFAULT_ENTRIES) : undefined;
}

function formatHistory(io: Io, history: readonly Omit<WipHistoryEntry, "actor">[], now: Date): string[] {
  if (history.length === 0) return ["", "Nothing was replaced or removed yet."];
  const rows = history.map(({ at, path, before, after, ...rest }) => [
    { text: formatAgo(at, now), style: "dim" as const },
    { text: "actor" in rest ? cleanLine(String(rest.actor), { maxChars: 20 }) : "" },
    { text: cleanLine(path, { maxChars: 60 }) },
    { text: `${shown(before)} → ${shown(after)}` },
  ]);
  return ["", "History", ...table(io, rows)];
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return cleanLine(typeof value === "string" ? value : JSON.stringify(value), { maxChars: 120 });
}
