/** Sessions of coding clients in this project. */
import type { WindowFill } from "../../engine/wiring.ts";
import { type Session, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { defineCommand, option, wholeNumber } from "../command.ts";
import { columns } from "../help.ts";
import { formatAgo } from "../print-work.ts";
import { noSession, openProject } from "../project.ts";
import { counted, formatNumber } from "../terminal.ts";

export const commands = {
  "session list": defineCommand({
    about:
      "Lists the sessions that hooks have seen in this project, newest first. For open sessions it shows how full the context window is, by the client's own count.",
    options: { limit: wholeNumber("N", "How many (default 20).") },
    examples: { "haversack session list": "the last 20 sessions" },
    json: "{sessions: [{session_id, agent_id, client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at, context?: {used_tokens, window_tokens?, percent?, at}}]}: context is absent where nothing is known.",
    async run(call) {
      const { handle } = openProject(call, { access: "look" });
      const { limit = 20 } = call.options;
      const sessions = new SqliteLocalStore(handle).listSessions({ limit });
      const isOpen = sessions.some(({ endedAt }) => !endedAt);
      // Loaded here, because ended sessions do not need it.
      const fills = isOpen ? await import("../../clients/window-fill.ts") : undefined;
      const rows = sessions.map((session) => ({
        session,
        context: session.endedAt ? undefined : withPercent(fills?.windowFill(session, call.io.env)),
      }));
      const data = rows.map(({ session, context }) => ({ ...session, ...(context && { context }) }));
      const described = rows.map(({ session, context }) => [nameOf(session), describe(session, context)] as const);
      const text = () => (rows.length > 0 ? columns(described) : "No session was seen here yet.");
      return { data: { sessions: data }, text };
    },
  }),
  "session reset": defineCommand({
    about: "Forgets which skills sessions have been shown, so that their next prompt is treated as their first.",
    arguments: [{ name: "ID", about: "sessions", required: true, many: true }],
    examples: { "haversack session reset s1": "the next prompt gets the full format" },
    jsonOfEach: "{session_id, agents}, where agents counts the agents of that session that were reset",
    several: "lines",
    async run(call) {
      const { openSkills } = await import("../skills.ts");
      const { ledger } = openSkills(call, { refresh: false });
      const [sessionId = ""] = call.arguments;
      const agents = ledger.reset(sessionId);
      if (agents > 0) return { data: { sessionId, agents }, text: `Session ${sessionId} starts over.` };
      throw noSession(sessionId);
    },
  }),
  context: defineCommand({
    about: "Prints what a session's current window has been shown of skills, as JSON.",
    options: {
      session: option("ID", "The session (default: the one seen last)."),
      "sub-agent": option("ID", "The sub-agent in that session."),
    },
    oldOptions: { agent: "sub-agent" },
    examples: { "haversack context --session s1": "its skill tracking" },
    json: "the same document: {skillTracking: {recommended, used, sessionStart, sessionId, lastPromptTime, promptCount, domainHistory}}.",
    async run(call) {
      const { openSkills } = await import("../skills.ts");
      const { ledger, sessions } = openSkills(call, { refresh: false });
      const { session, "sub-agent": agent } = call.options;
      const last = session === undefined ? sessions.listSessions({ limit: 1 })[0] : undefined;
      const sessionId = session ?? last?.sessionId;
      const skillTracking = sessionId && ledger.context({ sessionId, agentId: agent ?? last?.agentId ?? "" });
      if (!skillTracking) throw noSession(sessionId);
      call.io.out(`${JSON.stringify({ skillTracking }, null, call.json ? undefined : 2)}\n`);
    },
  }),
};

type Context = WindowFill & { percent?: number };

function withPercent(fill: WindowFill | undefined): Context | undefined {
  if (!fill?.windowTokens) return fill;
  return { ...fill, percent: Math.round((100 * fill.usedTokens) / fill.windowTokens) };
}

function nameOf({ sessionId, agentId }: Session): string {
  return agentId ? `${sessionId}/${agentId}` : sessionId;
}

function describe({ client, promptCount, lastSeenAt }: Session, context: Context | undefined): string {
  const seen = `last seen ${lastSeenAt.toISOString().slice(0, 16).replace("T", " ")}`;
  const parts = [client, counted(promptCount, "prompt"), seen];
  if (!context) return parts.join(", ");
  const { usedTokens, windowTokens = 0, percent, at } = context;
  const share = percent === undefined ? "" : `, ${percent}% of ${formatNumber(windowTokens)}`;
  return [...parts, `context ${formatNumber(usedTokens)} tokens${share} (${formatAgo(at, new Date())})`].join(", ");
}
