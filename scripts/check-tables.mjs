// Who owns which table. A team may share the work tables: only store/sqlite/work/ has SQL for them, so another database can replace
// it. All other code uses `WorkStore` or, for events, work/events/.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const STORE = "store/sqlite";
const WORK = `${STORE}/work/`;
const EVENTS = `${STORE}/work/events/`;
/** The parts of the work store that other folders may import. */
const DOORS = [`${WORK}sqlite-work-store.ts`, `${WORK}sqlite-run-store.ts`, EVENTS];
/** The work tables on a server. */
const SERVER = "store/postgres/";
/** These define the tables. */
const MIGRATIONS = `${STORE}/migrations/`;

/** Each entry is a row of the table in docs/explanation/store.md. `shared`: behind `WorkStore`; all other tables stay on this machine. */
export const OWNERS = [
  {
    folder: WORK,
    isShared: true,
    about:
      "epics, stories, tasks and their queue; claims and who held a task last; WIP of tasks; handoffs; agents and messages; activity; runs of headless sessions, with what became of their tasks, and their test runs",
    tables:
      "activity agents aliases batches blockers claims dependencies epics failures handoff_details handoffs last_holders lost_claims message_recipients messages queue run_sessions run_tasks run_tests runs session_metrics skill_history stories task_files task_wip task_wip_changes tasks",
  },
  {
    folder: EVENTS,
    about: "which agent of a session works on which task, and what git said when it was claimed",
    tables: "agent_roles agent_tasks git_states spawns",
  },
  {
    folder: `${STORE}/sessions/`,
    about: "sessions, their files, tool calls and transcripts, and the WIP of a session that works on no task",
    tables: "seen_calls session_files session_wip sessions tool_calls transcripts wip_changes",
  },
  {
    folder: `${STORE}/skills/`,
    about: "the skill index, the ledger of each window, and what was put into it",
    tables:
      "injections ledger patterns prompt_matches rule_files skill_bodies skill_rules skill_uses skills skills_search slow_patterns terms triggers",
  },
  {
    folder: `${STORE}/artifacts/`,
    about: "documents that sub-agents were sent with, what they read, and reviews",
    tables:
      "dispatched_agents dispatches expected_documents receipts resume_checks review_agents review_decisions review_issues reviews seen_lines spawn_documents",
  },
  {
    folder: `${STORE}/outputs/`,
    about: "tool outputs that were kept and shown as a preview, and what a window was shown whole",
    tables: "output_texts outputs shown_reads",
  },
  {
    folder: `${STORE}/outbox/`,
    about:
      "what this machine has changed in shared work and not sent yet, what was refused, and the age of the snapshot",
    tables: "conflicts outbox snapshot_state",
  },
  { folder: `${STORE}/`, about: "the store itself: versions, clocks, what was read in from the spool", tables: "meta" },
].map(({ tables, isShared = false, ...owner }) => ({ ...owner, isShared, tables: tables.split(" ") }));

const shared = new Set(OWNERS.filter(({ isShared }) => isShared).flatMap(({ tables }) => tables));
const local = new Map(
  OWNERS.filter(({ isShared }) => !isShared).flatMap(({ folder, tables }) => tables.map((table) => [table, folder])),
);
// The work store keeps its clock in `meta`.
local.delete("meta");

/**
 * SQL that crosses the border of the work store: for a work table from outside, or for a local table from inside. Also imports that
 * bypass its doors. One line each.
 */
export function strayTables(src) {
  return readdirSync(src, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(path))
    .filter((path) => !path.startsWith(MIGRATIONS))
    .sort()
    .flatMap((path) => {
      const text = readFileSync(join(src, path), "utf8");
      const tables = [...new Set([...text.matchAll(SQL)].map(([, table]) => table))];
      if (path.startsWith(EVENTS)) return [];
      if (path.startsWith(WORK) || path.startsWith(SERVER))
        return tables.filter((table) => local.has(table)).map((table) => crossing(path, table, local.get(table)));
      const stray = tables.filter((table) => shared.has(table)).map((table) => crossing(path, table, WORK));
      return path.startsWith("store/") ? stray : [...stray, ...importsPastDoors(src, path, text)];
    });
}

const SQL =
  /\b(?:FROM|JOIN|INTO|UPDATE(?: OR \w+)?|TABLE(?: IF (?:NOT )?EXISTS)?)\s+(?:main\.|temp\.)?["'[]?([a-z_]+)/g;

function crossing(path, table, owner) {
  return `${path}: SQL for ${table}, which belongs to ${owner}`;
}

function importsPastDoors(src, path, text) {
  return [...text.matchAll(/(?:from\s+|import\()"(\.[^"]+)"/g)]
    .map(([, target]) => relative(src, resolve(dirname(join(src, path)), target)).replaceAll("\\", "/"))
    .filter((target) => target.startsWith(WORK) && !DOORS.some((door) => target.startsWith(door)))
    .map((target) => `${path}: imports ${target}; go through WorkStore, or in events through ${EVENTS}`);
}

/** Tables of the schema that no owner lists, and listed tables that the schema lacks. */
export function unownedTables(schemaText) {
  const made = new Set([...schemaText.matchAll(/^CREATE (?:VIRTUAL )?TABLE ["']?(\w+)/gm)].map(([, table]) => table));
  const listed = OWNERS.flatMap(({ tables }) => tables);
  // SQLite creates these for its own use.
  const isOwn = (table) => table.startsWith("sqlite_") || table.startsWith("skills_search_");
  return [
    ...[...made]
      .filter((table) => !isOwn(table) && !listed.includes(table))
      .map((table) => `${table} has no owner in scripts/check-tables.mjs`),
    ...listed
      .filter((table) => !made.has(table))
      .map((table) => `${table} is in scripts/check-tables.mjs, but not in the schema`),
  ];
}

/** For docs/explanation/store.md. */
export function ownersTable() {
  const rows = OWNERS.map(
    ({ folder, isShared, about, tables }) =>
      `| \`${folder}\` | ${isShared ? "shared" : "local"} | ${about} | ${tables.map((table) => `\`${table}\``).join(", ")} |`,
  );
  return ["| owner, below `src/` | | what | tables |", "|---|---|---|---|", ...rows].join("\n");
}
