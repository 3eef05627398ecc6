/** Sessions of coding clients in this project. */
import { HaversackError } from "../../base/errors.ts";
import type { Client, WindowFill } from "../../engine/wiring.ts";
import type { Session } from "../../store/local-store.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Command, type ExitCode, type Io, print } from "../command.ts";
import { columns } from "../help.ts";
import { formatAgo } from "../print-work.ts";
import { openProject } from "../project.ts";

export const sessionList: Command = {
  spec: {
    about:
      "Lists the sessions that hooks have seen in this project, newest first. For those that have not ended it says how full the context is, as the client itself counted its last answer.",
    options: { limit: { type: "integer", value: "N", minimum: 1, about: "How many (default 20)." } },
    examples: [{ run: "haversack session list", says: "the last 20 sessions" }],
    json: "{sessions: [{sessionId, agentId, client, cwd, startedAt, lastSeenAt, window, promptCount, lastPromptAt, endedAt, context?: {usedTokens, windowTokens?, percent?, at}}]}: context is absent where nothing is known.",
  },
  async run(call): Promise<ExitCode> {
    const { handle } = openProject(call, { access: "look" });
    const { limit = 20 } = call.options as { limit?: number };
    const sessions = new SqliteLocalStore(handle).listSessions({ limit });
    // All clients are a lot to load; sessions that have ended need none of them.
    const clients = sessions.every(({ endedAt }) => endedAt) ? [] : (await import("../../clients/table.ts")).CLIENTS;
    const rows = sessions.map((session) => ({ session, context: fillOf(session, clients, call.io) }));
    const data = rows.map(({ session, context }) => ({ ...session, ...(context && { context }) }));
    print(call, { sessions: data }, () => {
      if (rows.length === 0) return "No session was seen here yet.";
      return columns(rows.map(({ session, context }) => [nameOf(session), describe(session, context, new Date())]));
    });
    return 0;
  },
};

type Context = WindowFill & { percent?: number };

function fillOf(session: Session, clients: readonly Client[], { env }: Io): Context | undefined {
  if (session.endedAt) return undefined;
  const fill = clients.find(({ name }) => name === session.client)?.fill(session, env);
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

export const sessionReset: Command = {
  spec: {
    about: "Forgets what a session has been shown of skills, so that its next prompt is treated as its first.",
    arguments: [{ name: "ID", about: "the session", required: true }],
    examples: [{ run: "haversack session reset s1", says: "the next prompt gets the full format" }],
    json: "{sessionId, agents}: how many agents of that session were reset.",
  },
  async run(call): Promise<ExitCode> {
    const [sessionId = ""] = call.arguments;
    const { openSkills } = await import("../skills.ts");
    const agents = openSkills(call, { refresh: false }).ledger.reset(sessionId);
    if (agents === 0)
      throw new HaversackError("not-found", `no session ${sessionId} was seen here`, {
        hint: "`haversack session list` shows them",
      });
    print(call, { sessionId, agents }, () => `Session ${sessionId} starts anew.`);
    return 0;
  },
};
