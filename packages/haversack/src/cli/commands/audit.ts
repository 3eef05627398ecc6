import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { auditTranscripts } from "../../audit/audit-transcripts.ts";
import { onThisMachine } from "../../audit/elsewhere.ts";
import { findTranscripts } from "../../audit/find-transcripts.ts";
import { auditHtml, REPORT_TITLE } from "../../audit/html-report.ts";
import { READERS } from "../../audit/readers.ts";
import { HaversackError } from "../../base/errors.ts";
import { putFile, USER } from "../../base/safe-write.ts";
import { loadCounter } from "../../tokens/count.ts";
import { defineCommand, type ExitCode, type Io, option, sayNote, sayWarning, wholeNumber } from "../command.ts";
import { parseAge } from "../parse.ts";
import { formatAudit } from "../print-audit.ts";
import { shortPath } from "../print-plan.ts";
import { targetFile } from "../project.ts";
import { formatBytes, startProgress } from "../terminal.ts";

// For `replay`, so that the built package has this code once.
export { auditTranscripts, findTranscripts, onThisMachine, READERS };

export const command = defineCommand({
  about:
    "Reads the transcripts of Claude Code, Codex, Gemini CLI and opencode where the clients keep them, and shows what filled each window: system prompt and tools, skill listing and bodies, MCP results, file reads, shell output, sub-agent results, pasted documents, planning, what Haversack added, and conversation. Names the largest wastes with a remedy each. Nothing is sent anywhere, and no text of a transcript is printed except names of files, tools and skills.",
  arguments: [
    {
      name: "PATH",
      about: "Transcripts, or folders with some. Default: the places where the clients keep them.",
      many: true,
    },
  ],
  options: {
    since: option("AGE", "Only windows that ended since then: an age such as 7d or 12h, or a date."),
    project: option("FOLDER", "Only sessions that worked in this folder or below."),
    limit: wholeNumber("N", "How many sessions, projects and days to print (default 10)."),
    html: option("FILE", "Also write the report with charts to this file. It needs nothing else to be shown."),
  },
  examples: {
    "haversack audit --since 7d": "all clients, the last week",
    "haversack audit --project . --html audit.html": "this project, with charts",
    "haversack audit session.jsonl --json": "one transcript, for a script",
  },
  json: "{files, bytes, records: {read, skipped, broken, unknown: {KIND: count}}, unreadable: [{path, problem}], windows, compactions, tokens, carried, overcounted, categories: {system, instructions, skill_listing, skill_bodies, mcp_results, file_reads, file_rereads, shell_output, sub_agent_results, other_tools, pasted, planning, injections, other_hooks, summaries, conversation, unexplained}, wastes: [{kind, project, name, tokens, count, windows, text, remedy}], sessions: [{client, session_id, agent_id, project, path, tokens, requests, is_system_inferred, windows: [{started_at, ended_at, requests, tokens, categories, reported, overcounted, carried, avoidable, compaction: {at, trigger, before, after, lost, skills} or null}]}], projects, days, clients: [{name, sessions, windows, tokens, categories}]}: tokens. `tokens` of a window is what was in it at its end, `carried` what all its requests sent together, `reported` what the client reported for the last request, `avoidable` what could have stayed out.",
  async run(call) {
    const { io } = call;
    const { since: age, project, limit = 10, html } = call.options;
    const since = age === undefined ? undefined : parseAge(age, new Date());
    const paths = call.arguments.map((path) => resolve(io.cwd, path));
    const target = html === undefined ? undefined : targetFile(call, html);
    const given = { env: io.env, readers: READERS, paths, ...(since && { since }) };
    const { files, problems, tooOld } = findTranscripts(given);
    for (const { path, problem } of problems) sayWarning(io, `${path} ${problem}`);
    if (target !== undefined) requireReport(target, html, files);
    if (files.length === 0) return nothing(io, { isNamed: paths.length > 0, tooOld });

    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const progress = startProgress(io, "Reading");
    const audit = auditTranscripts(files, {
      countTokens: await loadCounter(),
      elsewhere: onThisMachine(io.env),
      ...(since && { since }),
      ...(project !== undefined && { project: resolve(io.cwd, project) }),
      onProgress: (bytes) => progress.step(`${formatBytes(bytes)} of ${formatBytes(total)}`),
    });
    progress.end();
    if (audit.sessions.length === 0)
      sayNote(io, "no session in these transcripts matches; check --since and --project");
    if (target !== undefined) {
      putFile(target, auditHtml(audit, { now: new Date() }), { within: USER, isSynced: false });
      sayNote(io, `wrote ${html}`);
    }
    return {
      data: audit,
      text: () => (audit.sessions.length === 0 ? "Nothing to report." : formatAudit(io, audit, { limit })),
      code: problems.length > 0 ? 1 : 0,
    };
  },
});

function nothing(io: Io, { isNamed, tooOld }: { isNamed: boolean; tooOld: number }): ExitCode {
  if (tooOld > 0) {
    sayNote(io, `none of ${tooOld} transcripts changed since then`);
    return 1;
  }
  throw new HaversackError("not-found", isNamed ? "no transcript found there" : "no transcripts found", {
    hint: `looked in ${READERS.flatMap((reader) => reader.places(io.env))
      .map(shortPath)
      .join(", ")}; name files or folders to read others`,
  });
}

/** A report may only replace an earlier report, never a transcript or a file of the user. */
function requireReport(target: string, name: string | undefined, files: readonly { path: string }[]): void {
  if (!existsSync(target)) return;
  const isReport = readFileSync(target, "utf8").slice(0, 500).includes(REPORT_TITLE);
  if (isReport && !files.some(({ path }) => path === target)) return;
  throw new HaversackError("refused", `${name} exists and is not a report of an earlier audit; nothing was written`, {
    hint: "name a new file",
  });
}
