/** The audit as one HTML file: no scripts, nothing from elsewhere, every text escaped. */
import { cleanLine } from "../base/clean-text.ts";
import { localMinute } from "../base/local-time.ts";
import type { Audit, AuditTotal } from "./audit-transcripts.ts";
import { CATEGORIES, sumOf, type Tokens, UNEXPLAINED_LABEL } from "./categories.ts";

const ROWS: readonly { key: keyof Tokens; label: string }[] = [
  ...CATEGORIES,
  { key: "unexplained", label: UNEXPLAINED_LABEL },
];

/** Hue, saturation and lightness. Related categories have similar hues. */
const COLOURS: Readonly<Record<keyof Tokens, string>> = {
  system: "220 35% 45%",
  instructions: "220 40% 62%",
  skill_listing: "275 45% 50%",
  skill_bodies: "275 45% 68%",
  mcp_results: "185 55% 38%",
  file_reads: "150 45% 40%",
  file_rereads: "4 70% 55%",
  shell_output: "35 80% 50%",
  sub_agent_results: "325 50% 52%",
  other_tools: "190 30% 60%",
  pasted: "15 75% 62%",
  planning: "48 75% 52%",
  injections: "95 50% 42%",
  other_hooks: "95 30% 62%",
  summaries: "205 20% 70%",
  conversation: "210 12% 58%",
  unexplained: "0 0% 75%",
};

/** Rows of tables are cut here; the JSON has all. */
const MOST_ROWS = 200;
const MOST_DAYS = 90;

/** Distinguishes a report from other files. */
export const REPORT_TITLE = "Where the window went";

export function auditHtml(audit: Audit, { now }: { now: Date }): string {
  const { sessions, windows, compactions, tokens, carried } = audit;
  const main = sessions.filter(({ agentId }) => agentId === "").length;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${REPORT_TITLE}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Where the window went</h1>
<p class="lead">${number(main)} sessions, ${number(sessions.length - main)} sub-agents, ${number(windows)} windows, ${number(compactions)} compactions. ${number(tokens)} tokens in windows; ${number(carried)} sent in all requests, most of them from the cache. Written ${localMinute(now)} by Haversack; times are in the time zone of that machine. Tokens are o200k tokens, counted from the transcripts.</p>
<h2>What filled the windows</h2>
${categoryChart(audit.categories)}
${audit.wastes.length > 0 ? `<h2>Largest wastes</h2>\n${wasteList(audit)}` : ""}
${audit.days.length > 1 ? `<h2>By day</h2>\n${dayChart(audit.days.slice(-MOST_DAYS))}` : ""}
<h2>By project</h2>
${totalTable(audit.projects, "Project")}
<h2>By client</h2>
${totalTable(audit.clients, "Client")}
${compactions > 0 ? `<h2>Compactions and what was lost</h2>\n${compactionTable(audit)}` : ""}
<h2>Sessions</h2>
${sessionTable(audit)}
${notes(audit)}
</main>
</body>
</html>
`;
}

function categoryChart(categories: Tokens): string {
  const all = sumOf(categories) || 1;
  const rows = ROWS.filter(({ key }) => categories[key] > 0 || key === "unexplained");
  const most = Math.max(...rows.map(({ key }) => categories[key]), 1);
  const bars = rows.map(({ key, label }) => {
    const value = categories[key];
    const width = Math.max(0.3, (100 * value) / most).toFixed(1);
    return `<tr><th scope="row">${escaped(label)}</th><td>${number(value)}</td><td>${((100 * value) / all).toFixed(1)}%</td><td class="bar"><span style="width:${width}%;${fill(key)}"></span></td></tr>`;
  });
  return `<table class="bars"><tbody>${bars.join("\n")}</tbody></table>`;
}

/** One column per day. Sizes are in percent, so that the text keeps its size on a phone. */
function dayChart(days: readonly AuditTotal[]): string {
  const highest = days.reduce((one, other) => (other.tokens > one.tokens ? other : one));
  const every = Math.ceil(days.length / 7);
  const columns = days.map((day, place) => {
    const parts = ROWS.flatMap(({ key, label }) => {
      const size = (100 * day.categories[key]) / Math.max(highest.tokens, 1);
      if (size < 0.1) return [];
      return [
        `<span style="height:${size.toFixed(1)}%;${fill(key)}" title="${escaped(day.name)}, ${escaped(label)}: ${number(day.categories[key])} tokens"></span>`,
      ];
    });
    const label = place % every === 0 ? `<b>${escaped(day.name.slice(5))}</b>` : "";
    return `<div>${parts.join("")}${label}</div>`;
  });
  const most = `The highest: ${number(highest.tokens)} tokens on ${escaped(highest.name)}.`;
  return `<div class="days" role="img" aria-label="Tokens in windows by day. ${most}">${columns.join("\n")}</div>\n<p class="notes">${most}</p>\n${legend(days)}`;
}

function legend(days: readonly AuditTotal[]): string {
  const shown = ROWS.filter(({ key }) => days.some(({ categories }) => categories[key] > 0));
  return `<ul class="legend">${shown.map(({ key, label }) => `<li><span style="${fill(key)}"></span>${escaped(label)}</li>`).join("")}</ul>`;
}

function fill(key: keyof Tokens): string {
  return `background:hsl(${COLOURS[key]})`;
}

function wasteList({ wastes }: Audit): string {
  return `<ol class="wastes">${wastes
    .map(
      ({ tokens, text, remedy, project }) =>
        `<li><strong>${number(tokens)} tokens</strong> ${marked(text)}${project ? ` <span class="path">${escaped(project)}</span>` : ""}<br><em>${marked(remedy)}</em></li>`,
    )
    .join("\n")}</ol>`;
}

function totalTable(totals: readonly AuditTotal[], title: string): string {
  const rows = totals
    .slice(0, MOST_ROWS)
    .map(
      ({ name, sessions, windows, tokens, categories }) =>
        `<tr><td>${escaped(name || "(unknown)")}</td><td>${number(sessions)}</td><td>${number(windows)}</td><td>${number(tokens)}</td><td>${strip(categories)}</td></tr>`,
    );
  return table([title, "Sessions", "Windows", "Tokens", "Share"], rows, totals.length);
}

function sessionTable({ sessions }: Audit): string {
  const rows = sessions
    .slice(0, MOST_ROWS)
    .map(({ client, sessionId, agentId, project, windows, tokens, requests }) => {
      const categories = windows.reduce<Tokens>(
        (sum, window) => Object.fromEntries(ROWS.map(({ key }) => [key, sum[key] + window.categories[key]])) as Tokens,
        Object.fromEntries(ROWS.map(({ key }) => [key, 0])) as Tokens,
      );
      return `<tr><td>${escaped(`${client} ${sessionId}${agentId ? ` / ${agentId}` : ""}`)}<br><span class="path">${escaped(project)}</span></td><td>${number(windows.length)}</td><td>${number(requests)}</td><td>${number(tokens)}</td><td>${strip(categories)}</td></tr>`;
    });
  return table(["Session", "Windows", "Requests", "Tokens", "Share"], rows, sessions.length);
}

function compactionTable({ sessions }: Audit): string {
  const all = sessions.flatMap(({ client, sessionId, windows }) =>
    windows.flatMap(({ compaction }) => (compaction ? [{ client, sessionId, ...compaction }] : [])),
  );
  const rows = all.slice(0, MOST_ROWS).map(({ client, sessionId, at, trigger, before, after, lost, skills }) => {
    const what = ROWS.filter(({ key }) => (lost[key] ?? 0) > 0)
      .map(({ key, label }) => `${label} ${number(lost[key] ?? 0)}`)
      .join(", ");
    const loaded = skills.length > 0 ? `. Skills loaded before: ${skills.join(", ")}` : "";
    const when = at === null ? "" : localMinute(new Date(at));
    return `<tr><td>${escaped(when)}<br><span class="path">${escaped(`${client} ${sessionId}`)}</span></td><td>${escaped(trigger)}</td><td>${number(before)}</td><td>${number(after)}</td><td class="wide">${escaped(what + loaded)}</td></tr>`;
  });
  return table(["When", "Trigger", "Before", "After", "Lost"], rows, all.length);
}

/** All categories side by side in one line. */
function strip(categories: Tokens): string {
  const all = sumOf(categories);
  if (all === 0) return "";
  let x = 0;
  const parts = ROWS.flatMap(({ key, label }) => {
    const width = (categories[key] / all) * 240;
    if (width < 0.2) return [];
    x += width;
    return [
      `<rect x="${(x - width).toFixed(1)}" width="${width.toFixed(1)}" height="12" style="fill:hsl(${COLOURS[key]})"><title>${escaped(label)}: ${number(categories[key])} tokens</title></rect>`,
    ];
  });
  return `<svg class="strip" viewBox="0 0 240 12" role="img" aria-label="Share by category">${parts.join("")}</svg>`;
}

function table(columns: readonly string[], rows: readonly string[], total: number): string {
  const left = total > rows.length ? `<p>${number(total - rows.length)} more are in the JSON output.</p>` : "";
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escaped(columns[0] ?? "")}"><table><thead><tr>${columns.map((name) => `<th>${escaped(name)}</th>`).join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>${left}`;
}

function notes({ records, overcounted, sessions }: Audit): string {
  const unknown = Object.values(records.unknown).reduce((sum, count) => sum + count, 0);
  const lines = [
    ...(sessions.some(({ isSystemInferred }) => isSystemInferred)
      ? [
          "Where a transcript holds no system prompt or tools, they are inferred from the first request's reported size.",
        ]
      : []),
    ...(overcounted > 0 ? [`We count ${number(overcounted)} tokens more than the clients reported.`] : []),
    `${number(records.read + records.skipped)} records, ${number(unknown)} of unknown kinds, ${number(records.broken)} cut off or not JSON.`,
  ];
  return `<p class="notes">${lines.map(escaped).join(" ")}</p>`;
}

const STYLE = `
:root{color-scheme:light dark;--fg:#1c2024;--dim:#5b6570;--line:#d8dde2;--bg:#fff}
@media(prefers-color-scheme:dark){:root{--fg:#e6e8ea;--dim:#9aa4ae;--line:#343a40;--bg:#15181b}}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
main{max-width:920px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:0 0 8px}h2{font-size:18px;margin:34px 0 10px}
.lead,.notes{color:var(--dim);max-width:70ch}
.strip{display:block;width:240px;max-width:100%;height:auto;border-radius:2px}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:right;padding:6px 10px;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
th:first-child,th:last-child,td:first-child,td:last-child{text-align:left}
td:first-child,td.wide{white-space:normal;overflow-wrap:anywhere;min-width:14em}
.path{color:var(--dim);font-size:13px}.wastes li{margin:0 0 10px}.wastes em{color:var(--dim)}
.bars th,.bars td{border:0;padding:3px 12px 3px 0;text-align:right;vertical-align:middle;white-space:normal;min-width:0}
.bars th{font-weight:400;text-align:left;width:1%;min-width:8.5em}.bars td{width:1%;font-variant-numeric:tabular-nums}.bars td+td{color:var(--dim)}
.bars .bar{width:auto}.bars .bar span{display:block;height:14px;border-radius:3px}
.days{display:flex;gap:2px;height:220px;margin-bottom:30px;border-bottom:1px solid var(--line)}
.days div{flex:1;min-width:0;max-width:96px;display:flex;flex-direction:column-reverse;position:relative}
.days b{position:absolute;top:100%;left:0;padding-top:5px;font-weight:400;font-size:13px;color:var(--dim)}
@media(min-width:600px){.bars th{white-space:nowrap}}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;padding:0;font-size:13px;color:var(--dim)}
.legend span{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
`;

function escaped(text: string): string {
  return cleanLine(text, { maxChars: 2_000 }).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Names between backticks, as in Markdown. */
function marked(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
