import { nativeListing } from "../../clients/skill-listings.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { readUsage } from "../../store/sqlite/skills/skill-usage.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openProject } from "../project.ts";

export const spec: CommandSpec = {
  about:
    "Per session: what Haversack added to the window, in tokens (estimated), and what the listing of the same skills would have cost in that client, in its own form. The first request pays a text in full; later requests of the window pay it again from the cache, at about a tenth of the price, so both are shown.",
  options: {
    session: { type: "string", value: "ID", about: "Only this session, with every text that was injected." },
    limit: { type: "integer", value: "N", minimum: 1, about: "How many sessions (default 10)." },
  },
  examples: [
    { run: "haversack usage", says: "the last ten sessions" },
    { run: "haversack usage --session s1", says: "every text of one" },
  ],
  json: "{sessions: [{sessionId, agentId, client, prompts, windows, added: {uncached, cached}, native: {uncached, cached, skills}, calls?: {count, tokens}, injections?: [{at, event, format, tokens, text}]}]}: tokens. `added` is null for a sub-agent when it is unknown which call started it; `calls` of its session has what those calls were given.",
};

export function run(call: Call): ExitCode {
  const { handle } = openProject(call, { access: "look" });
  const { session, limit = 10 } = call.options as { session?: string; limit?: number };
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
  const sessions = readUsage(handle, { limit, listing, ...(session && { sessionId: session }) });
  print(call, { sessions }, () => {
    if (sessions.length === 0)
      return session ? `No session ${session} was seen here.` : "No session was seen here yet.";
    return sessions
      .map(({ sessionId, agentId, client, prompts, windows, added, native, calls, injections }) => {
        const head = `${sessionId}${agentId && `/${agentId}`} (${client}): ${prompts} ${prompts === 1 ? "prompt" : "prompts"} in ${windows} ${windows === 1 ? "window" : "windows"}`;
        const lines = [
          `  added by Haversack      ${added ? `${added.uncached} tokens, and ${added.cached} cached` : "-"}`,
          ...(calls
            ? [
                `  added to sub-agents     ${calls.tokens} tokens in ${calls.count} ${calls.count === 1 ? "call" : "calls"}; which agent each started is unknown`,
              ]
            : []),
          `  native listing instead  ${native.uncached} tokens, and ${native.cached} cached (${native.skills} ${native.skills === 1 ? "skill" : "skills"})`,
        ];
        const texts = (injections ?? []).map(
          ({ at, event, format, tokens, text }) =>
            `  ${at} ${event} ${format} ${tokens} tokens${text ? `\n${text.replace(/^/gm, "    ")}` : ""}`,
        );
        return [head, ...lines, ...texts].join("\n");
      })
      .join("\n");
  });
  return session && sessions.length === 0 ? 1 : 0;
}
