import type { DiscoveredSkill } from "../../engine/discover.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { openSkills } from "../skills.ts";
import { paint } from "../terminal.ts";

export const spec: CommandSpec = {
  about: "Shows what the last prompts were matched with, and why each skill was or was not shown.",
  options: {
    session: { type: "string", value: "ID", about: "Only this session's prompts (default: the newest of any)." },
    limit: { type: "integer", value: "N", minimum: 1, about: "How many prompts (default 1)." },
    all: { type: "boolean", about: "List every candidate, not the ten best." },
  },
  examples: [
    { run: "haversack why", says: "the last prompt" },
    { run: "haversack why --session s1 --limit 5", says: "the last five of a session" },
  ],
  json: "{prompts: [{sessionId, agentId, promptNumber, at, prompt, explanation: {format, status, isExplicit, domain, tokens, skills}}]}.",
};

interface Explanation {
  format: string;
  status: string;
  domain?: string;
  tokens: number;
  skills: DiscoveredSkill[];
}

export function run(call: Call): ExitCode {
  const { session, limit = 1, all } = call.options as { session?: string; limit?: number; all?: boolean };
  const prompts = openSkills(call, { refresh: false }).ledger.matches({ sessionId: session, limit });
  print(call, { prompts }, () => {
    if (prompts.length === 0)
      return session ? `No prompt was seen in session ${session}.` : "No prompt was seen here yet.";
    return prompts
      .map(({ sessionId, promptNumber, at, prompt, explanation }) => {
        const { format, status, domain, tokens, skills } = explanation as Explanation;
        const answer = format === "none" ? "nothing shown" : `${format}, ${tokens} tokens`;
        const head = `${paint(call.io, "bold", `"${prompt.replace(/\s+/g, " ").trim().slice(0, 100)}"`)}\n  session ${sessionId}, prompt ${promptNumber}, ${at}: ${status}${domain ? `, domain ${domain}` : ""}; ${answer}`;
        const lines = skills.slice(0, all ? skills.length : 10).map((skill) => formatSkillLine(skill));
        return [head, ...(lines.length > 0 ? lines : ["  no skill matched"])].join("\n");
      })
      .join("\n\n");
  });
  return session && prompts.length === 0 ? 1 : 0;
}

function formatSkillLine({ id, confidence, reasons, verdict }: DiscoveredSkill): string {
  const why = [...reasons]
    .sort((a, b) => b.strength - a.strength)
    .slice(0, 4)
    .map(({ feature, text }) => `${feature} "${text}"`)
    .join(", ");
  return `  ${confidence.toFixed(2)}  ${id}: ${verdict}\n        ${why}`;
}
