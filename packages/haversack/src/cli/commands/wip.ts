/** The work in progress of a task or a session. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { getWip, updateWip } from "../../engine/work/update-wip.ts";
import { SessionState, sessionWipHistory } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { WipHistoryEntry } from "../../store/work-store.ts";
import { type Call, type Command, type ExitCode, type Io, print } from "../command.ts";
import { TASK } from "../each-task.ts";
import { wipLines } from "../print-task.ts";
import { formatAgo, table } from "../print-work.ts";
import { openProject } from "../project.ts";
import { readText, readWork, withWork } from "../work.ts";
import { AGENT } from "../work-options.ts";

const DEFAULT_ENTRIES = 50;

export const wipShow: Command = {
  spec: {
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
  },
  run(call) {
    const { options } = call;
    const [taskId] = call.arguments;
    if (taskId === undefined) return showSession(call);
    if (options["session"] !== undefined || options["agent"] !== undefined)
      throw new HaversackError("usage", "wip show takes a task or a session, not both");
    return showTask(call, taskId);
  },
};

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

export const wipSet: Command = {
  spec: {
    about:
      "Adds to a task's work in progress. Objects merge, lists of files, decisions and errors unite, other values replace, null removes a field. What was replaced stays in `wip show --history`.",
    arguments: [TASK, { name: "JSON", about: "an object; - reads it from standard input", required: true }],
    options: { agent: AGENT },
    examples: [
      {
        run: `haversack wip set T4829 '{"phase":"testing","next_step":"fix the failing test"}'`,
        says: "where the work stands",
      },
      { run: "haversack wip set T4829 - < wip.json", says: "from a file" },
    ],
    json: "{id, changed}: changed is false when it was known already.",
  },
  run(call) {
    return withWork(call, async (work) => {
      const [taskId = "", given = ""] = call.arguments;
      const read = readJson((await readText(call, given)) ?? "");
      if (read.problem !== undefined) throw new HaversackError("usage", `WIP must be a JSON object: ${read.problem}`);
      if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value))
        throw new HaversackError(
          "usage",
          `WIP must be a JSON object such as {"next_step": "…"}, but is ${kindOf(read.value)}`,
        );
      const { changed } = await updateWip({ taskId, wip: read.value }, work);
      const { id } = await work.store.findId(taskId);
      print(call, { id, changed }, () => (changed ? `Work in progress of ${id} saved.` : `Nothing new for ${id}.`));
      return 0;
    });
  },
};

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
}
