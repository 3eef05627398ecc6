/** The work in progress of a task or a session. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { isRecord, readJson } from "../../base/json.ts";
import { getWip, updateWip } from "../../engine/work/set-status.ts";
import { SessionState, sessionWipHistory } from "../../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import type { WipHistoryEntry } from "../../store/work-store.ts";
import { type Call, defineCommand, flag, type Io, type Output, option, wholeNumber } from "../command.ts";
import { wipLines } from "../print-task.ts";
import { dim, formatAgo, table } from "../print-work.ts";
import { openProject } from "../project.ts";
import { type OpenWork, openWork, readText, TASK } from "../work.ts";
import { AGENT } from "../work-options.ts";

const DEFAULT_ENTRIES = 50;

export const command = defineCommand({
  about:
    "Shows the work in progress of a task or a session: files, tests, errors, the last commit, the plan and the next step. Hooks capture it, agents add to it. With JSON it adds to a task's work in progress: objects merge, lists of files, decisions and errors are combined, other values replace, and null removes a field. --history shows what was replaced.",
  arguments: [
    { name: "TASK", about: `${TASK.about} (default: a session)`, many: true },
    { name: "JSON", about: "an object to add, as the last argument; - reads it from standard input" },
  ],
  options: {
    session: option("ID", "The session (default: the one seen last)."),
    "sub-agent": option("ID", "The sub-agent in that session."),
    history: flag("What was replaced or removed, newest first."),
    limit: wholeNumber("N", `How many entries of the history (default ${DEFAULT_ENTRIES}).`),
    agent: { ...AGENT, about: "The agent that adds it (default: HAVERSACK_AGENT, else you)." },
  },
  examples: {
    "haversack wip T4829": "of a task",
    "haversack wip T4829 --history": "and what was there before",
    'haversack wip T4829 \'{"next_step":"fix the failing test"}\'': "add to it",
    "haversack wip --session s1 --json": "of a session, for a script",
  },
  json: "of a task {id, wip, wip_updated_at?, history?}, of a session {session_id, agent_id, updated_at, wip, history?}; wip of a session is null when nothing was captured. history: [{at, actor?, path, before?, after?}]. With JSON {id, changed}: changed is false when it was known already. Several: a list of these, with {id, error} for what failed.",
  several: "blocks",
  idsAt: (words) => [0, taskCount(words)],
  open: async (call) => {
    const [taskId, given] = call.arguments.toSpliced(1, taskCount(call.arguments) - 1);
    return taskId === undefined ? undefined : openWork(call, given === undefined ? "read" : "save");
  },
  run(call, work) {
    const { session, "sub-agent": subAgent } = call.options;
    const [taskId, given] = call.arguments;
    if (taskId === undefined || work === undefined) return showSession(call);
    if ((session ?? subAgent) !== undefined)
      throw new HaversackError("usage", "wip takes a task or a session, not both");
    return given === undefined ? showTask(call, taskId, work) : addToTask(call, { taskId, given }, work);
  },
});

/** The number of words before the JSON at the end. JSON literals are not task IDs, so `wip TASK null` gets a clear error. */
function taskCount(words: readonly string[]): number {
  const last = words.at(-1) ?? "";
  const isTask = /^[\w.-]*\d[\w.-]*$/.test(last) && !/^-?[\d.]+$/.test(last);
  return words.length > 1 && !isTask ? words.length - 1 : words.length;
}

type WipCall = Call<{ session?: string; "sub-agent"?: string; agent?: string; history?: boolean; limit?: number }>;

async function showTask(call: WipCall, taskId: string, work: OpenWork): Promise<Output> {
  const { id, wip, updatedAt, history } = await getWip({ taskId, history: historyLimit(call) }, work);
  return {
    data: { id, wip, ...(updatedAt && { wip_updated_at: updatedAt }), ...(history && { history }) },
    text: () =>
      [
        wipLines(wip).join("\n") || `${id} has no work in progress.`,
        ...(updatedAt ? [`Changed ${formatAgo(updatedAt, work.by.at)}.`] : []),
        ...(history ? formatHistory(call.io, history, work.by.at) : []),
      ].join("\n"),
  };
}

function showSession(call: WipCall): Output {
  const { handle } = openProject(call, { access: "look" });
  const sessions = new SqliteLocalStore(handle);
  const { session, "sub-agent": subAgent, agent } = call.options;
  const sessionId = session ?? sessions.listSessions({ limit: 1 })[0]?.sessionId;
  // Earlier versions took a sub-agent's ID as --agent when no task was given.
  const agentId = subAgent ?? agent ?? "";
  if (!sessionId || !sessions.getSession({ sessionId, agentId })) {
    const which = sessionId ? `no session "${sessionId}${agentId && `/${agentId}`}"` : "no session";
    throw new HaversackError("not-found", `${which} was seen here${sessionId ? "" : " yet"}`, {
      hint: "`haversack session list` shows them; `haversack wip TASK` shows a task's",
    });
  }
  const found = new SessionState(handle).wip({ sessionId, agentId });
  const limit = historyLimit(call);
  const history = limit === undefined ? undefined : sessionWipHistory(handle, { sessionId, agentId, limit });
  return {
    data: { sessionId, agentId, updatedAt: found?.updatedAt ?? null, wip: found?.data ?? null, history },
    text: () =>
      [
        (found && wipLines(found.data).join("\n")) ||
          "Nothing was captured outside of tasks; `haversack wip TASK` shows a task's.",
        ...(history ? formatHistory(call.io, history, new Date()) : []),
      ].join("\n"),
  };
}

function historyLimit({ options: { history, limit } }: WipCall): number | undefined {
  return limit ?? (history ? DEFAULT_ENTRIES : undefined);
}

function formatHistory(io: Io, history: readonly Omit<WipHistoryEntry, "actor">[], now: Date): string[] {
  if (history.length === 0) return ["", "Nothing was replaced or removed yet."];
  const rows = history.map(({ at, path, before, after, ...rest }) => [
    dim(formatAgo(at, now)),
    "actor" in rest ? cleanLine(String(rest.actor), { maxChars: 20 }) : "",
    cleanLine(path, { maxChars: 60 }),
    `${shown(before)} → ${shown(after)}`,
  ]);
  return ["", "History", ...table(io, rows)];
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return cleanLine(typeof value === "string" ? value : JSON.stringify(value), { maxChars: 120 });
}

async function addToTask(
  call: WipCall,
  { taskId, given }: { taskId: string; given: string },
  work: OpenWork,
): Promise<Output> {
  const read = readJson((await readText(call, given)) ?? "");
  if (read.problem !== undefined) throw new HaversackError("usage", `WIP must be a JSON object: ${read.problem}`);
  const { value } = read;
  if (!isRecord(value)) {
    const must = 'WIP must be a JSON object such as {"next_step": "…"}';
    const kind = Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`;
    throw new HaversackError("usage", `${must}, but is ${kind}`);
  }
  const { changed } = await updateWip({ taskId, wip: value }, work);
  const { id } = await work.store.findId(taskId);
  return { data: { id, changed }, text: changed ? `Work in progress of ${id} saved.` : `Nothing new for ${id}.` };
}
