/** Sessions of coding clients in this project. */
import type { WindowFill } from "../../engine/wiring.ts";
import { type Session, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Command, type ExitCode, eachTask, print, several, wholeNumber } from "../command.ts";
import { columns } from "../help.ts";
import { formatAgo } from "../print-work.ts";
import { noSession, openProject } from "../project.ts";

const sessionList: Command = {
  spec: {
    about:
      "Lists the sessions that hooks have seen in this project, newest first. For open sessions it shows how full the context window is, by the client's own count.",
    options: { limit: wholeNumber("N", "How many (default 20).") },
    examples: [{ run: "haversack session list", says: "the last 20 sessions" }],
    json: "{sessions: [{session_id, agent_id, client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at, context?: {used_tokens, window_tokens?, percent?, at}}]}: context is absent where nothing is known.",
  },
  async run(call): Promise<ExitCode> {
    const { handle } = openProject(call, { access: "look" });
    const { limit = 20 } = call.options as { limit?: number };
    const sessions = new SqliteLocalStore(handle).listSessions({ limit });
    const isOpen = sessions.some(({ endedAt }) => !endedAt);
    // Loaded here, because ended sessions do not need it.
    const fills = isOpen ? await import("../../clients/window-fill.ts") : undefined;
    const rows = sessions.map((session) => ({
      session,
      context: session.endedAt ? undefined : withPercent(fills?.windowFill(session, call.io.env)),
    }));
    const data = rows.map(({ session, context }) => ({ ...session, ...(context && { context }) }));
    print(call, { sessions: data }, () => {
      if (rows.length === 0) return "No session was seen here yet.";
      return columns(rows.map(({ session, context }) => [nameOf(session), describe(session, context, new Date())]));
    });
    return 0;
  },
};

type Context = WindowFill & { percent?: number };

function withPercent(fill: WindowFill | undefined): Context | undefined {
  if (!fill?.windowTokens) return fill;
  return { ...fill, percent: Math.round((100 * fill.usedTokens) / fill.windowTokens) };
}

function nameOf({ sessionId, agentId }: Session): string {
  return agentId ? `${sessionId}/${agentId}` : sessionId;
}

function describe({ client, promptCount, lastSeenAt }: Session, context: Context | undefined, now: Date): string {
  const prompts = `${promptCount} ${promptCount === 1 ? "prompt" : "prompts"}`;
  const seen = `last seen ${lastSeenAt.toISOString().slice(0, 16).replace("T", " ")}`;
  return [client, prompts, seen, ...(context ? [describeContext(context, now)] : [])].join(", ");
}

function describeContext({ usedTokens, windowTokens, percent, at }: Context, now: Date): string {
  const share = percent === undefined ? "" : `, ${percent}% of ${grouped(windowTokens ?? 0)}`;
  return `context ${grouped(usedTokens)} tokens${share} (${formatAgo(at, now)})`;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

const sessionReset: Command = {
  spec: {
    about: "Forgets which skills sessions have been shown, so that their next prompt is treated as their first.",
    arguments: [{ name: "ID", about: "sessions", required: true, many: true }],
    examples: [{ run: "haversack session reset s1", says: "the next prompt gets the full format" }],
    json: several("{session_id, agents}, where agents counts the agents of that session that were reset"),
  },
  async run(call): Promise<ExitCode> {
    const { openSkills } = await import("../skills.ts");
    const { ledger } = openSkills(call, { refresh: false });
    return eachTask(call, call.arguments, async (sessionId) => {
      const agents = ledger.reset(sessionId);
      if (agents > 0) return { kind: "done", view: { sessionId, agents }, text: `Session ${sessionId} starts over.` };
      throw noSession(sessionId);
    });
  },
};

export const commands: Readonly<Record<string, Command>> = {
  "session list": sessionList,
  "session reset": sessionReset,
};
