import { cleanLine, stripControl } from "../../base/clean-text.ts";
import type { DiscoveredSkill } from "../../engine/discover.ts";
import type { ExplainedPart } from "../../engine/explain-injection.ts";
import { type ExplainedSession, explainSession } from "../../engine/explain-session.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { block, commandLine, fields, formatAgo } from "../print-work.ts";
import { paint } from "../terminal.ts";
import { readWork } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Explains what Haversack added to a session, newest first: skills with a prompt, packets at a start, after a compaction and for sub-agents, messages, warnings before edits, documents that a sub-agent has to read. For each text: when, at which event, in which window, how many tokens, and why each part is there. Prompts that were answered with silence are listed too.",
  options: {
    session: { type: "string", value: "ID", about: "This session (default: the latest in this folder)." },
    "sub-agent": { type: "string", value: "ID", about: "Only what this sub-agent of the session was given." },
    limit: { type: "integer", value: "N", minimum: 1, about: "Show at most N texts (default 5)." },
    all: { type: "boolean", about: "List every skill that was considered for a prompt, not only the best." },
    text: { type: "boolean", about: "Print each text as the model received it." },
  },
  examples: [
    { run: "haversack why", says: "the latest session in this folder" },
    { run: "haversack why --limit 1 --text", says: "the last text, whole" },
    { run: "haversack why --session s1 --limit 50", says: "the last 50 texts of a session" },
  ],
  json: "{session, total, tokens, injections: [{sessionId, agentId, window, at, event, format, tokens, what, parts: [{part, because, tokens?, isCut?}], leftOut: [{what, count}], text}], prompts: [{sessionId, agentId, promptNumber, at, prompt, explanation: {format, status, isExplicit, domain, tokens, skills}}]}, newest first; session is null when none was seen.",
};

type Entry = ExplainedSession["entries"][number];

interface Explanation {
  format: string;
  status: string;
  domain?: string;
  skills: DiscoveredSkill[];
}

export function run(call: Call): Promise<ExitCode> {
  return readWork(call, async ({ handle, store }) => {
    const {
      session,
      "sub-agent": agentId,
      limit = 5,
    } = call.options as {
      session?: string;
      "sub-agent"?: string;
      limit?: number;
    };
    const found = await explainSession({ sessionId: session, agentId, limit, cwd: call.io.cwd }, { handle, store });
    print(call, toJson(found), () => {
      if (!found) return session ? `No session ${cleanLine(session)} was seen here.` : "No session was seen here yet.";
      return format(call, found);
    });
    return !found && session ? 1 : 0;
  });
}

function toJson(found: ExplainedSession | undefined): object {
  const { sessionId = null, total = 0, tokens = 0, entries = [] } = found ?? {};
  return {
    session: sessionId,
    total,
    tokens,
    injections: entries.map(({ match: _, because: __, ...entry }) => entry),
    prompts: entries.flatMap(({ match, sessionId: id, agentId, at }) =>
      match
        ? [
            {
              sessionId: id,
              agentId,
              promptNumber: match.promptNumber,
              at,
              prompt: match.prompt,
              explanation: match.explanation,
            },
          ]
        : [],
    ),
  };
}

function format(call: Call, { sessionId, session, entries, total, tokens }: ExplainedSession): string {
  const id = cleanLine(sessionId);
  const seen = session ? ` (${session.client}, last seen ${formatAgo(session.lastSeenAt, new Date())})` : "";
  if (entries.length === 0) return `Nothing was added to session ${id}${seen}.`;
  const rest = total - entries.length;
  const last =
    rest > 0
      ? `${entries.length} of ${total} texts of session ${id}, ${tokens} tokens in all; \`${commandLine("why", call, { limit: total })}\` shows all.`
      : `${total} ${total === 1 ? "text" : "texts"} in session ${id}${seen}, ${tokens} tokens in all.`;
  return [...entries.map((entry) => formatEntry(call, entry)), last].join("\n\n");
}

function formatEntry(call: Call, entry: Entry): string {
  const { io, options } = call;
  const { sessionId, agentId, window, at, tokens, text, parts, leftOut } = entry;
  const where = [
    `session ${cleanLine(sessionId)}`,
    ...(agentId ? [subAgent(cleanLine(agentId))] : []),
    ...(entry.match ? [`prompt ${entry.match.promptNumber}`] : []),
    `window ${window}`,
    at,
  ].join(", ");
  const size = text ? `${tokens} tokens` : "nothing shown";
  const body = options["text"] && text ? ["", block(stripControl(text).trimEnd())] : [];
  if (entry.event === "prompt") return [...formatPrompt(call, entry, { where, size }), ...body].join("\n");
  const left = leftOut.map(({ what, count }) => (count === 1 ? what : `${count} × ${what}`)).join(", ");
  return [
    paint(io, "bold", entry.what[0]!.toUpperCase() + entry.what.slice(1)),
    `  ${where}: ${size}`,
    ...fields(io, [
      ...parts.map((part) => [cleanLine(part.part), formatPart(part)] as const),
      ["left out", left && cleanLine(left)],
    ]),
    // Of an older version, or of a part that records none: what it begins with says most.
    ...(parts.length === 0 ? [`  "${cleanLine(text, { maxChars: 100 })}"; its reasons were not recorded`] : []),
    ...body,
  ].join("\n");
}

/** Before it is known which one it will be, it goes by the call that starts it. */
function subAgent(agentId: string): string {
  return agentId.startsWith("call:")
    ? `the sub-agent of call ${agentId.slice("call:".length)}`
    : `sub-agent ${agentId}`;
}

function formatPart({ because, tokens, isCut }: ExplainedPart): string {
  const size = [...(tokens === undefined ? [] : [`${tokens} tokens`]), ...(isCut ? ["cut to fit"] : [])].join(", ");
  return `${cleanLine(because)}${size && ` (${size})`}`;
}

function formatPrompt(
  call: Call,
  { match, format: form }: Entry,
  { where, size }: { where: string; size: string },
): string[] {
  if (!match) return [paint(call.io, "bold", "Prompt"), `  ${where}: ${size}`, "  its reasons are not kept any more"];
  const { status, domain, skills } = match.explanation as Explanation;
  const answer = form === "none" ? size : `${form}, ${size}`;
  // Whoever asks for one text wants to see what else came into question.
  const most = call.options["all"] ? skills.length : call.options["limit"] === 1 ? 10 : 5;
  const isShown = ({ disclosure }: DiscoveredSkill) => disclosure !== "none";
  const listed = [...skills.filter(isShown), ...skills.filter((skill) => !isShown(skill))].slice(
    0,
    Math.max(most, skills.filter(isShown).length),
  );
  const lines = listed.map(formatSkillLine);
  return [
    paint(call.io, "bold", `"${cleanLine(match.prompt, { maxChars: 100 })}"`),
    `  ${where}: ${status}${domain ? `, domain ${cleanLine(domain)}` : ""}; ${answer}`,
    ...(lines.length > 0 ? lines : ["  no skill matched"]),
  ];
}

function formatSkillLine({ id, confidence, reasons, verdict }: DiscoveredSkill): string {
  const why = [...reasons]
    .sort((a, b) => b.strength - a.strength)
    .slice(0, 4)
    .map(({ feature, text }) => `${feature} "${text}"`)
    .join(", ");
  return `  ${confidence.toFixed(2)}  ${id}: ${verdict}\n        ${why}`;
}
