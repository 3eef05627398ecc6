/** The audit as text: where the windows went, what was wasted, and who spent it. */
import type { Audit, AuditedSession, AuditTotal, Compaction } from "../audit/audit-transcripts.ts";
import { CATEGORIES, type Tokens, UNEXPLAINED_LABEL } from "../audit/categories.ts";
import { number, some } from "../audit/wastes.ts";
import { cleanLine } from "../base/clean-text.ts";
import { localMinute } from "../base/local-time.ts";
import { bar, canDraw } from "./charts.ts";
import type { Io } from "./command.ts";
import { shortPath } from "./print-plan.ts";
import { formatTokens } from "./run-view.ts";
import { paint } from "./terminal.ts";

export function formatAudit(io: Io, audit: Audit, { limit }: { limit: number }): string {
  const { sessions, windows, compactions, tokens, clients } = audit;
  const main = sessions.filter(({ agentId }) => agentId === "").length;
  const agents = sessions.length - main;
  const head = [
    `${some(main, "session")}${agents > 0 ? ` and ${some(agents, "sub-agent")}` : ""}, ${some(windows, "window")}, ${some(compactions, "compaction")}: ${number(tokens)} tokens in windows, ${formatTokens(audit.carried)} sent in all requests.`,
    clients
      .map(({ name, windows: count }) => `${name} ${count}`)
      .join(", ")
      .replace(/^(.+)$/, "Windows by client: $1."),
  ];
  const title = (text: string) => `\n${paint(io, "bold", text)}`;
  const parts = [...head, title("Where the windows went"), ...categoryLines(io, audit.categories)];
  const notes = notesOf(audit);
  if (notes.length > 0) parts.push("", ...notes);
  if (audit.wastes.length > 0) parts.push(title("Largest wastes"), ...wasteLines(audit));
  const lost = sessions.flatMap((session) =>
    session.windows.flatMap(({ compaction }) => (compaction ? [{ session, compaction }] : [])),
  );
  if (lost.length > 0)
    parts.push(title("Compactions"), ...lost.slice(0, limit).map(compactionLine), ...more(lost.length, limit));
  if (audit.projects.length > 1) parts.push(title("By project"), ...totalLines(audit.projects, limit));
  if (audit.days.length > 1) parts.push(title("By day"), ...totalLines(audit.days.slice(-limit), limit));
  parts.push(title("Sessions"), ...sessionLines(sessions.slice(0, limit)), ...more(sessions.length, limit));
  return parts.join("\n");
}

const LABEL_WIDTH = Math.max(...CATEGORIES.map(({ label }) => label.length));

function categoryLines(io: Io, tokens: Tokens): string[] {
  const all = Object.values(tokens).reduce((sum, count) => sum + count, 0);
  const rows = [...CATEGORIES, { key: "unexplained" as const, label: UNEXPLAINED_LABEL }];
  const most = Math.max(...rows.map(({ key }) => tokens[key]), 1);
  return rows
    .filter(({ key }) => tokens[key] > 0 || key === "unexplained")
    .map(({ key, label }) => {
      const count = tokens[key];
      const share = all > 0 ? `${((100 * count) / all).toFixed(1)}%` : "";
      const drawn = canDraw(io) ? `  ${bar(count / most)}` : "";
      return `  ${label.padEnd(LABEL_WIDTH)}  ${number(count).padStart(12)}  ${share.padStart(6)}${drawn}`;
    });
}

function notesOf({ sessions, overcounted, records, unreadable }: Audit): string[] {
  const notes: string[] = [];
  if (sessions.some(({ isSystemInferred }) => isSystemInferred)) {
    notes.push(
      "Some transcripts hold no system prompt or tools. There the first request's reported size, less what is known of it, counts as system.",
    );
  }
  if (overcounted > 0)
    notes.push(
      `We count ${number(overcounted)} tokens more than the clients reported: another tokenizer, or text that a client dropped.`,
    );
  const unknown = Object.entries(records.unknown);
  const total = unknown.reduce((sum, [, count]) => sum + count, 0);
  if (total > 0)
    notes.push(
      `${some(total, "record")} of unknown kinds skipped: ${unknown
        .slice(0, 5)
        .map(([kind, count]) => `${kind} ${count}`)
        .join(", ")}.`,
    );
  if (records.broken > 0) notes.push(`${some(records.broken, "line")} cut off or not JSON, skipped.`);
  for (const { path, problem } of unreadable.slice(0, 5)) notes.push(`Not read: ${oneLine(path)} (${problem}).`);
  return notes;
}

const WASTE_WIDTH = 22;

function wasteLines({ wastes, projects }: Audit): string[] {
  return wastes.flatMap(({ text, remedy, tokens, project }, place) => {
    const where = projects.length > 1 && project !== "" ? ` (${projectName(project)})` : "";
    return [
      // Rank and size share a column, so that long lines continue below the text.
      `${`${place + 1}. ${number(tokens)} tokens`.padStart(WASTE_WIDTH)}  ${oneLine(text)}${where}`,
      `${" ".repeat(WASTE_WIDTH)}  ${remedy}`,
    ];
  });
}

function compactionLine({ session, compaction }: { session: AuditedSession; compaction: Compaction }): string {
  const { at, trigger, before, after, lost, skills } = compaction;
  const what = (Object.entries(lost) as [keyof Tokens, number][])
    .sort(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([key, tokens]) => `${labelOf(key)} ${formatTokens(tokens)}`)
    .join(", ");
  const loaded = skills.length > 0 ? `; skills loaded before: ${skills.slice(0, 8).map(oneLine).join(", ")}` : "";
  return `  ${localTime(at)}  ${nameOf(session)}  ${trigger ? `${oneLine(trigger)}, ` : ""}${formatTokens(before)} to ${formatTokens(after)} tokens. Lost: ${what || "nothing"}${loaded}`;
}

function labelOf(key: keyof Tokens): string {
  return (CATEGORIES.find((one) => one.key === key)?.label ?? UNEXPLAINED_LABEL).toLowerCase();
}

const MAX_NAME_CHARS = 50;

function totalLines(totals: readonly AuditTotal[], limit: number): string[] {
  const shown = totals.slice(0, limit).map((total) => {
    const label = total.name.includes("/") ? projectName(total.name) : total.name || "(unknown)";
    return { ...total, label: oneLine(label) };
  });
  const width = Math.min(MAX_NAME_CHARS, Math.max(...shown.map(({ label }) => label.length)));
  return [
    ...shown.map(({ label, sessions, windows, tokens, categories }) => {
      return `  ${label.padEnd(width)}  ${some(sessions, "session").padStart(12)}  ${some(windows, "window").padStart(12)}  ${number(tokens).padStart(12)}  ${largest(categories)}`;
    }),
    ...more(totals.length, limit),
  ];
}

function sessionLines(sessions: readonly AuditedSession[]): string[] {
  const width = Math.max(0, ...sessions.map((session) => nameOf(session).length));
  return sessions.map((session) => {
    const categories = merged(session.windows.map((window) => window.categories));
    return `  ${localTime(session.windows.at(-1)?.endedAt ?? null)}  ${nameOf(session).padEnd(width)}  ${some(session.windows.length, "window").padStart(10)}  ${number(session.tokens).padStart(12)}  ${largest(categories)}`;
  });
}

/** The two largest rows. */
function largest(categories: Tokens): string {
  const all = Object.values(categories).reduce((sum, count) => sum + count, 0) || 1;
  return (Object.entries(categories) as [keyof Tokens, number][])
    .sort(([, a], [, b]) => b - a)
    .slice(0, 2)
    .filter(([, tokens]) => tokens > 0)
    .map(([key, tokens]) => `${labelOf(key)} ${Math.round((100 * tokens) / all)}%`)
    .join(", ");
}

function merged(list: readonly Tokens[]): Tokens {
  const [first, ...rest] = list;
  const sum = { ...first! };
  for (const one of rest) for (const key of Object.keys(sum) as (keyof Tokens)[]) sum[key] += one[key];
  return sum;
}

/** IDs that begin with a time differ at their end. */
function nameOf({ client, sessionId, agentId }: AuditedSession): string {
  const isByEnd = client === "codex" || client === "opencode";
  const short = (id: string) => (isByEnd ? oneLine(id).slice(-8) : oneLine(id).slice(0, 8));
  return `${client} ${short(sessionId)}${agentId ? `/${short(agentId)}` : ""}`;
}

function projectName(project: string): string {
  return oneLine(shortPath(project));
}

function oneLine(text: string): string {
  return cleanLine(text, { maxChars: 300 });
}

function localTime(at: string | null): string {
  return at === null ? "(no time)       " : localMinute(new Date(at));
}

function more(total: number, limit: number): string[] {
  return total > limit ? [`  ${number(total - limit)} more; \`--limit\` shows them, \`--json\` has all.`] : [];
}
