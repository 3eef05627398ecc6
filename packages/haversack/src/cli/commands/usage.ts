import { cleanLine, stripControl } from "../../base/clean-text.ts";
import { nativeListing } from "../../clients/skill-listings.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { readUsage, type SessionUsage, type UsageQuery } from "../../store/sqlite/skills/skill-usage.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import { canDraw, columnsOf } from "../charts.ts";
import { defineCommand, type Io, option, wholeNumber } from "../command.ts";
import { noSession, openProject } from "../project.ts";
import { counted, paint } from "../terminal.ts";

export const command = defineCommand({
  about:
    "Shows what Haversack added to each session's window, in tokens (estimated), and what the client's own listing of the same skills would have cost. Later requests pay a text again from the cache, at about a tenth of the price, so cached tokens are shown separately.",
  options: {
    session: option("ID", "Only this session, with every text that was injected."),
    limit: wholeNumber("N", "How many sessions (default 10)."),
  },
  examples: {
    "haversack usage": "the last ten sessions",
    "haversack usage --session s1": "every text of one",
  },
  json: "{sessions: [{session_id, agent_id, client, last_seen_at, prompts, windows, added: {uncached, cached}, native: {uncached, cached, skills}, calls?: {count, tokens}, shortened?: {count, tokens}, injections?: [{at, event, format, tokens, text}]}]}: tokens. `added` is null for a sub-agent when it is unknown which call started it; `calls` of its session has what those calls were given.",
  run(call) {
    const { handle } = openProject(call, { access: "look" });
    const { session, limit = 10 } = call.options;
    const sessions = readSavings(handle, { limit, ...(session && { sessionId: session }) });
    if (session && sessions.length === 0) throw noSession(session);
    const text = () => [...sessions.map(describeUsage), ...chart(call.io, sessions)].join("\n");
    return { data: { sessions }, text: sessions.length > 0 ? text : "No session was seen here yet." };
  },
});

function describeUsage(usage: SessionUsage): string {
  const { sessionId, agentId, client, prompts, windows, added, native, calls, shortened, injections = [] } = usage;
  const name = cleanLine(`${sessionId}${agentId && `/${agentId}`}`, { maxChars: 100 });
  const lines = [
    `${name} (${cleanLine(client, { maxChars: 40 })}): ${counted(prompts, "prompt")} in ${counted(windows, "window")}`,
    `  added by Haversack      ${added ? `${added.uncached} tokens, and ${added.cached} cached` : "-"}`,
    calls &&
      `  added to sub-agents     ${calls.tokens} tokens in ${counted(calls.count, "call")}; which agent each started is unknown`,
    shortened && `  tool outputs shortened  ${shortened.count}, about ${shortened.tokens} tokens less in the window`,
    `  native listing instead  ${native.uncached} tokens, and ${native.cached} cached (${counted(native.skills, "skill")})`,
    ...injections.map(
      ({ at, event, format, tokens, text }) =>
        `  ${at} ${event} ${format} ${tokens} tokens${text ? `\n${stripControl(text).replace(/^/gm, "    ")}` : ""}`,
    ),
  ];
  return lines.filter(Boolean).join("\n");
}

/** One column per session, both lines on one scale. */
function chart(io: Io, sessions: readonly SessionUsage[]): string[] {
  const shown = sessions.filter(({ added }) => added !== null).slice(0, Math.max(10, (io.width ?? 80) - 44));
  if (!canDraw(io) || shown.length < 2) return [];
  const oldestFirst = [...shown].reverse();
  const added = oldestFirst.map((one) => one.added?.uncached ?? 0);
  const native = oldestFirst.map((one) => one.native.uncached);
  const most = Math.max(...added, ...native);
  if (most === 0) return [];
  const line = (name: string, values: readonly number[]) => {
    const total = values.reduce((sum, value) => sum + value, 0);
    return `  ${name}  ${columnsOf(values, most)}  ${total.toLocaleString("en-US")} in all`;
  };
  return [
    "",
    paint(io, "bold", `Tokens paid in full, ${shown.length} sessions, oldest first`),
    line("native listing    ", native),
    line("added by Haversack", added),
  ];
}

/** What was added to each session, beside what the client's own listing of the same skills costs. */
export function readSavings(handle: StoreHandle, query: Omit<UsageQuery, "listing">): SessionUsage[] {
  const listed = new SqliteSkillIndex(handle.db)
    .listCards()
    .filter(({ modelInvocable, sourceKind }) => modelInvocable && sourceKind !== "rule")
    .map(({ id, description, path }) => ({ name: id, description, path }));
  const costs = new Map<string, number>();
  const listing = (client: string) => {
    const tokens = costs.get(client) ?? estimateTokens(nativeListing(client, listed));
    costs.set(client, tokens);
    return { tokens, skills: listed.length };
  };
  return readUsage(handle, { ...query, listing });
}
