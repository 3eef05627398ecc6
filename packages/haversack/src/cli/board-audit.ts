/** The audit for the board: runs `haversack audit --json` in a separate process, because reading gigabytes would block the page's server. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Audit, Compaction } from "../audit/audit-transcripts.ts";
import { CATEGORIES, type Tokens, UNEXPLAINED_LABEL } from "../audit/categories.ts";
import { cleanLine } from "../base/clean-text.ts";
import type { AuditReport, AuditView } from "../board-server/board-types.ts";
import type { Environment } from "../engine/project.ts";
import type { Installed } from "../engine/wiring.ts";

export interface BoardAuditPlace {
  installed: Pick<Installed, "node" | "bin">;
  root: string;
  env: Environment;
}

export class BoardAudit {
  readonly #place: BoardAuditPlace;
  #view: AuditView = { state: "none", days: 30 };
  #child: ChildProcess | undefined;

  constructor(place: BoardAuditPlace) {
    this.#place = place;
  }

  view(): AuditView {
    return this.#view;
  }

  start(days: number, onChange: () => void): void {
    if (this.#child && this.#view.days === days) return;
    this.close();
    const { installed, root, env } = this.#place;
    const words = [installed.bin, "audit", "--json", "--project", root, "--since", `${days}d`];
    const child = spawn(installed.node, words, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    // The last report stays visible until there is a newer one.
    const before = this.#view.report && { report: this.#view.report };
    this.#view = { state: "reading", days, at: new Date().toISOString(), ...before };
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (part: Buffer) => out.push(part));
    child.stderr.on("data", (part: Buffer) => err.push(part));
    const ended = (problem: string | undefined) => {
      // A newer audit was started meanwhile.
      if (this.#child !== child) return;
      this.#child = undefined;
      const at = new Date().toISOString();
      this.#view = { days, at, ...(problem === undefined ? readReport(out) : { state: "failed", problem }) };
      onChange();
    };
    child.on("error", (error) => ended(error.message));
    child.on("close", (code) => ended(code === 0 ? undefined : problemOf(Buffer.concat(err).toString("utf8"), out)));
  }

  close(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill();
  }
}

/** Undefined: there is a report, even if some files could not be read. */
function problemOf(said: string, out: readonly Buffer[]): string | undefined {
  if (out.length > 0) return undefined;
  const [, text = "the transcripts could not be read"] = /haversack: (?:error|note): (.*)/.exec(said) ?? [];
  return cleanLine(text, { maxChars: 300 });
}

/** The part of `audit --json` that the page needs. */
interface Printed extends Omit<Audit, "sessions"> {
  sessions: { client: string; session_id: string; windows: { compaction: Compaction | null }[] }[];
}

function readReport(out: readonly Buffer[]): Pick<AuditView, "state" | "report" | "problem"> {
  try {
    return { state: "ready", report: reportOf(JSON.parse(Buffer.concat(out).toString("utf8")) as Printed) };
  } catch {
    return { state: "failed", problem: "the audit printed no report" };
  }
}

const ROWS: readonly { key: keyof Tokens; label: string }[] = [
  ...CATEGORIES,
  { key: "unexplained", label: UNEXPLAINED_LABEL },
];
const MOST_DAYS = 120;
const MOST_LOST = 20;

/** Only what the page draws: all windows of a year would be megabytes. */
function reportOf(audit: Printed): AuditReport {
  const { files, bytes, records, windows, compactions, tokens, carried, wastes, sessions, days } = audit;
  const shown = ROWS.filter(({ key }) => audit.categories[key] > 0);
  return {
    ...{ files, bytes, broken: records.broken, sessions: sessions.length, windows, compactions, tokens, carried },
    categories: shown.map(({ key, label }) => ({ key, label, tokens: audit.categories[key] })),
    by_day: days
      .filter(({ name }) => name !== "")
      .slice(-MOST_DAYS)
      .map(({ name, categories }) => ({ day: name, tokens: shown.map(({ key }) => categories[key]) })),
    wastes: wastes.map(({ tokens: count, text, remedy }) => ({ tokens: count, text: cleanLine(text), remedy })),
    lost: sessions
      .flatMap(lostBy)
      .sort((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, MOST_LOST),
  };
}

function lostBy({ client, session_id: id, windows }: Printed["sessions"][number]): AuditReport["lost"] {
  return windows.flatMap(({ compaction }) => {
    if (!compaction) return [];
    const { at, trigger, before, after, lost } = compaction;
    const what = ROWS.filter(({ key }) => (lost[key] ?? 0) > 0)
      .sort((a, b) => (lost[b.key] ?? 0) - (lost[a.key] ?? 0))
      .slice(0, 3)
      .map(({ label }) => label.toLowerCase());
    return [
      {
        ...{ at: at ?? "", session: cleanLine(`${client} ${id}`, { maxChars: 60 }), trigger: cleanLine(trigger) },
        ...{ before, after, what: what.join(", ") },
      },
    ];
  });
}
