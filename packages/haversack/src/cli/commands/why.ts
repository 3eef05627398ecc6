import { cleanLine, stripControl } from "../../base/clean-text.ts";
import type { DiscoveredSkill } from "../../engine/discover.ts";
import type { ExplainedPart } from "../../engine/explain-session.ts";
import { type ExplainedSession, explainSession } from "../../engine/explain-session.ts";
import { type Call, flag, option, wholeNumber } from "../command.ts";
import { block, commandLine, fields, formatAgo } from "../print-work.ts";
import { noSession } from "../project.ts";
import { counted, paint } from "../terminal.ts";
import { defineWork } from "../work.ts";

export const command = defineWork("read", {
  about:
    "Explains what Haversack added to a session, newest first: skills with a prompt, packets at a start, after a compaction and for sub-agents, messages, warnings before edits, documents that a sub-agent has to read. For each text: when, at which event, in which window, how many tokens, and why each part is there. Prompts that were answered with silence are listed too.",
  options: {
    session: option("ID", "This session (default: the latest in this folder)."),
    "sub-agent": option("ID", "Only what this sub-agent of the session was given."),
    limit: wholeNumber("N", "Show at most N texts (default 5)."),
    all: flag("List every skill that was considered for a prompt, not only the best."),
    text: flag("Print each text as the model received it."),
  },
  examples: {
    "haversack why": "the latest session in this folder",
    "haversack why --limit 1 --text": "the last text, whole",
    "haversack why --session s1 --limit 50": "the last 50 texts of a session",
  },
  json: "{session, total, shown, tokens, injections: [{session_id, agent_id, window, at, event, format, tokens, what, parts: [{part, because, tokens?, is_cut?}], left_out: [{what, count}], text}], prompts: [{session_id, agent_id, prompt_number, at, prompt, explanation: {format, status, is_explicit, domain, tokens, skills}}]}, newest first; shown counts those with a text; session is null when none was seen.",
  async run(call, { handle, store }) {
    const { session, "sub-agent": agentId, limit = 5 } = call.options;
    const found = await explainSession({ sessionId: session, agentId, limit, cwd: call.io.cwd }, { handle, store });
    if (!found && session !== undefined && !call.json) throw noSession(session);
    return {
      data: toJson(found),
      text: () => (found ? format(call, found) : "No session was seen here yet."),
      code: !found && session !== undefined ? 1 : 0,
    };
  },
});

type Entry = ExplainedSession["entries"][number];

interface Explanation {
  format: string;
  status: string;
  domain?: string;
  skills: DiscoveredSkill[];
}

function toJson(found: ExplainedSession | undefined): object {
  const { sessionId = null, total = 0, shown = 0, tokens = 0, entries = [] } = found ?? {};
  return {
    session: sessionId,
    total,
    shown,
    tokens,
    injections: entries.map(({ match: _, because: __, ...entry }) => entry),
    prompts: entries.flatMap(({ match, sessionId: id, agentId, at }) => {
      if (!match) return [];
      const { promptNumber, prompt, explanation } = match;
      return [{ sessionId: id, agentId, promptNumber, at, prompt, explanation }];
    }),
  };
}

function format(call: Call, { sessionId, session, entries, total, shown, tokens }: ExplainedSession): string {
  const id = cleanLine(sessionId);
  const seen = session ? ` (${session.client}, last seen ${formatAgo(session.lastSeenAt, new Date())})` : "";
  if (entries.length === 0) return `Nothing was added to session ${id}${seen}.`;
  const silent = total - shown;
  const all = `${counted(shown, "text")}${silent > 0 ? ` and ${counted(silent, "silent prompt")}` : ""}`;
  const last =
    total > entries.length
      ? `${entries.length} of ${total} shown; \`${commandLine(call, { limit: total })}\` shows all. In session ${id}: ${all}, ${tokens} tokens in all.`
      : `${all} in session ${id}${seen}, ${tokens} tokens in all.`;
  return [...entries.map((entry) => formatEntry(call, entry)), last].join("\n\n");
}

function formatEntry(call: Call, entry: Entry): string {
  const { io, options } = call;
  const { sessionId, agentId, window, at, text, parts, leftOut } = entry;
  const where = [
    `session ${cleanLine(sessionId)}`,
    ...(agentId ? [subAgent(cleanLine(agentId))] : []),
    ...(entry.match ? [`prompt ${entry.match.promptNumber}`] : []),
    `window ${window}`,
    at,
  ].join(", ");
  const body = options["text"] && text ? ["", block(stripControl(text).trimEnd())] : [];
  if (entry.event === "prompt") return [...formatPrompt(call, entry, where), ...body].join("\n");
  const left = leftOut.map(({ what, count }) => (count === 1 ? what : `${count} × ${what}`)).join(", ");
  return [
    paint(io, "bold", entry.what[0]!.toUpperCase() + entry.what.slice(1)),
    `  ${addedWords(entry)}`,
    ...fields(io, [
      ...parts.map((part) => [cleanLine(part.part), formatPart(part)] as const),
      ["left out", left && cleanLine(left)],
    ]),
    // An older version or a part that records no reasons: show how the text begins.
    ...(parts.length === 0 ? [`  "${cleanLine(text, { maxChars: 100 })}"; its reasons were not recorded`] : []),
    paint(io, "dim", `  ${where}`),
    ...body,
  ].join("\n");
}

/** Until a sub-agent's ID is known, it is named by the call that starts it. */
function subAgent(agentId: string): string {
  return agentId.startsWith("call:")
    ? `the sub-agent of call ${agentId.slice("call:".length)}`
    : `sub-agent ${agentId}`;
}

function formatPart({ because, tokens, isCut }: ExplainedPart): string {
  const size = [...(tokens === undefined ? [] : [`${tokens} tokens`]), ...(isCut ? ["cut to fit"] : [])].join(", ");
  return `${cleanLine(because)}${size && ` (${size})`}`;
}

function addedWords({ text, tokens }: Pick<Entry, "text" | "tokens">): string {
  return text ? `Added ${tokens} tokens` : "Added nothing";
}

/** The result comes first, then the reasons, then where and when it was. */
function formatPrompt(call: Call, entry: Entry, where: string): string[] {
  const { match, format: form } = entry;
  const place = (more: string) => paint(call.io, "dim", `  ${where}${more}`);
  if (!match) {
    const head = paint(call.io, "bold", "Prompt");
    return [head, `  ${addedWords(entry)}; its reasons are no longer stored`, place("")];
  }
  const { status, domain, skills } = match.explanation as Explanation;
  // If only one text was asked for, show more of the skills that were considered.
  const most = call.options["all"] ? skills.length : call.options["limit"] === 1 ? 10 : 5;
  const isShown = ({ disclosure }: DiscoveredSkill) => disclosure !== "none";
  const listed = [...skills.filter(isShown), ...skills.filter((skill) => !isShown(skill))].slice(
    0,
    Math.max(most, skills.filter(isShown).length),
  );
  const lines = listed.map(formatSkillLine);
  return [
    paint(call.io, "bold", `"${cleanLine(match.prompt, { maxChars: 100 })}"`),
    `  ${addedWords(entry)}: ${outcomeOf(skills)}`,
    ...lines,
    place(
      `: ${[status, ...(domain ? [`domain ${cleanLine(domain)}`] : []), ...(form === "none" ? [] : [form])].join(", ")}`,
    ),
  ];
}

/** What the text did with skills, in a few words. */
function outcomeOf(skills: readonly DiscoveredSkill[]): string {
  const done = Object.entries(DONE).flatMap(([disclosure, verb]) => {
    const ids = skills.filter((skill) => skill.disclosure === disclosure).map(({ id }) => id);
    return ids.length > 0 ? [`${verb} ${ids.join(", ")}`] : [];
  });
  const listed = skills.filter(({ disclosure, verdict }) => disclosure === "none" && verdict === "shown by name");
  if (listed.length > 0) done.push(`listed by name: ${listed.map(({ id }) => id).join(", ")}`);
  if (done.length > 0) return done.join("; ");
  return skills.length === 0 ? "no skill matched" : "no skill was shown";
}

const DONE = { body: "loaded", full: "recommended", name: "named" } as const;

function formatSkillLine({ id, confidence, reasons, verdict }: DiscoveredSkill): string {
  const why = [...reasons]
    .sort((a, b) => b.strength - a.strength)
    .slice(0, 4)
    .filter(({ shift }) => shift === undefined)
    .map(({ feature, text }) => `${feature} "${text}"`)
    .concat(
      reasons.flatMap(({ text, shift }) =>
        shift === undefined ? [] : `${shift > 0 ? "more" : "less"} likely: ${text}`,
      ),
    )
    .join(", ");
  return `  ${confidence.toFixed(2)}  ${id}: ${verdict}\n        ${why}`;
}
