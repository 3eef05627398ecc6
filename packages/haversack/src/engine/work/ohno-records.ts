/**
 * Converts ohno's tables to records. Reads only columns that exist, keeps ids, and counts per column what has no place here. ohno has no
 * claims: a task in progress is imported as `todo` with a note, or no agent would get it again.
 */
import { cleanLine } from "../../base/clean-text.ts";
import type { WorkRecord } from "../../store/record-fields.ts";
import { VERDICTS } from "../../work/handoff.ts";
import {
  DEFAULT_PRIORITY,
  DEPENDENCY_TYPES,
  GROUP_STATUSES,
  PRIORITIES,
  TASK_STATUSES,
  TASK_TYPES,
} from "../../work/task.ts";
import type { ForeignDatabase, KnownTimes } from "./import-ohno.ts";

export interface LeftOver {
  /** `tasks.actual_hours`, or a whole table. */
  where: string;
  count: number;
  why: string;
}

/** `known`: the times of what is here already. They stand in for missing ones. */
export function ohnoRecords(
  database: ForeignDatabase,
  known: ReadonlyMap<string, KnownTimes> = new Map(),
): { records: WorkRecord[]; left: LeftOver[] } {
  const reader = new OhnoReader(database, known);
  return { records: reader.records(), left: reader.left() };
}

type Row = Record<string, unknown>;

const NO_PLACE = "has no place here";
const ACTOR = "ohno";

/** What each table's columns become. A column that is neither here nor in `WITHOUT_PLACE` is unknown. */
const TAKEN: Readonly<Record<string, string>> = {
  epics: "id title description priority status created_at updated_at",
  stories: "id epic_id title description status created_at updated_at",
  tasks:
    "id story_id title status task_type estimate_hours description context_summary working_files blockers handoff_notes created_at updated_at activity_summary needs_rework work_in_progress wip_updated_at source",
  task_activity: "id task_id activity_type description old_value new_value actor created_at",
  task_files: "id task_id file_path created_at",
  task_dependencies: "id task_id depends_on_task_id dependency_type created_at",
  task_failures: "id task_id failure_type failure_reason attempt created_at",
  task_handoffs: "task_id status summary files_changed full_details created_at compacted_at",
};
/** Values without information: losing them is not reported. */
const SAYS_NOTHING: Readonly<Record<string, unknown>> = { "tasks.progress_percent": 0 };
/** Computed from other tables. */
const DERIVED = new Set(["work_queue"]);

class OhnoReader {
  readonly #database: ForeignDatabase;
  readonly #known: ReadonlyMap<string, KnownTimes>;
  readonly #left = new Map<string, LeftOver>();
  /** Statuses of the tasks of each story, and of the stories of each epic. */
  readonly #tasksOf = new Map<unknown, unknown[]>();
  readonly #storiesOf = new Map<unknown, unknown[]>();

  constructor(database: ForeignDatabase, known: ReadonlyMap<string, KnownTimes>) {
    this.#database = database;
    this.#known = known;
  }

  left(): LeftOver[] {
    return [...this.#left.values()].sort((a, b) => (a.where < b.where ? -1 : 1));
  }

  records(): WorkRecord[] {
    this.#countUnknown();
    for (const { story_id, status } of this.#rows("tasks")) {
      // With the status that they will have here.
      add(this.#tasksOf, story_id, status === "in_progress" ? "todo" : status);
    }
    const stories = this.#rows("stories").map((row) => this.#group("stories", row));
    for (const [at, { epic_id }] of this.#rows("stories").entries()) {
      add(this.#storiesOf, epic_id, (stories[at] as { status?: string } | undefined)?.status);
    }
    return [
      ...this.#rows("epics").map((row) => this.#group("epics", row)),
      ...stories,
      ...this.#tasks(),
      ...this.#rows("task_dependencies").map((row) => this.#dependency(row)),
      ...this.#rows("tasks").flatMap((row) => this.#blocker(row)),
      ...this.#rows("task_failures").map((row) => this.#failure(row)),
      ...this.#rows("task_handoffs").flatMap((row) => this.#handoff(row)),
      ...this.#rows("task_activity").map((row) => this.#activity(row)),
      ...this.#rows("tasks").flatMap((row) => this.#summary(row)),
    ];
  }

  #group(table: "epics" | "stories", row: Row): WorkRecord {
    const priority = () => this.#choice("epics.priority", row["priority"], PRIORITIES) ?? DEFAULT_PRIORITY;
    const own =
      table === "epics" ? { kind: "epic", priority: priority() } : { kind: "story", epic_id: text(row["epic_id"]) };
    return recordOf({
      ...own,
      id: text(row["id"]),
      title: title(row),
      description: text(row["description"]),
      ...this.#groupStatus(table, row),
      source: "ohno",
      ...this.#times(row),
    });
  }

  /** ohno leaves groups at `todo` even if everything in them is done. So its status counts only if nothing else is known. */
  #groupStatus(table: "epics" | "stories", row: Row): { status: string; completed_at?: string } {
    const given = row["status"] === "review" || row["status"] === "blocked" ? "in_progress" : row["status"];
    const own = this.#choice(`${table}.status`, given, GROUP_STATUSES) ?? "todo";
    const members = (table === "stories" ? this.#tasksOf : this.#storiesOf).get(row["id"]) ?? [];
    const status = own === "archived" ? own : (followed(members) ?? own);
    return { status, ...(status === "done" && { completed_at: this.#times(row).updated_at }) };
  }

  #tasks(): WorkRecord[] {
    const files = new Map<unknown, unknown[]>();
    for (const { task_id, file_path } of this.#rows("task_files")) {
      const path = text(file_path);
      if (path) add(files, String(task_id), path);
    }
    const moves = this.#statusTimes();
    return this.#rows("tasks").map((row) => {
      const times = this.#times(row);
      const given = this.#choice("tasks.status", row["status"], TASK_STATUSES) ?? "todo";
      if (given === "in_progress")
        this.#miss("tasks.status", "in_progress was imported as todo with a note: nobody holds it here");
      const wip = this.#wip(row);
      const notes = [
        given === "in_progress" && `In progress in ohno when it was imported${wip ? "; go on from its WIP" : ""}.`,
        Number(row["needs_rework"]) === 1 && "Needs rework, says ohno.",
      ];
      const moved = moves.get(String(row["id"]));
      const hours = Number(row["estimate_hours"]);
      return recordOf({
        kind: "task",
        id: text(row["id"]),
        title: title(row),
        type: this.#choice("tasks.task_type", row["task_type"], TASK_TYPES) ?? "feature",
        status: given === "in_progress" ? "todo" : given,
        priority: DEFAULT_PRIORITY,
        story_id: text(row["story_id"]),
        description: text(row["description"]),
        files: [...(files.get(String(row["id"])) ?? []), ...this.#workingFiles(row)],
        estimate_hours: typeof row["estimate_hours"] === "number" && hours >= 0 ? hours : undefined,
        context_summary: text(row["context_summary"]),
        handoff_notes: text(row["handoff_notes"]),
        source: text(row["source"]) ?? "ohno",
        note: notes.filter(Boolean).join(" ") || undefined,
        ...times,
        started_at: moved?.started,
        completed_at: given === "done" ? (moved?.completed ?? times.updated_at) : undefined,
        wip,
        wip_updated_at: wip && (time(row["wip_updated_at"]) ?? times.updated_at),
      });
    });
  }

  /** When a task was first started and last done, from its activity. */
  #statusTimes(): Map<string, { started?: string; completed?: string }> {
    const moves = new Map<string, { started?: string; completed?: string }>();
    for (const { task_id, new_value, created_at } of this.#rows("task_activity")) {
      const at = time(created_at);
      if (!at || (new_value !== "in_progress" && new_value !== "done")) continue;
      const known = moves.get(String(task_id)) ?? {};
      if (new_value === "done" && at > (known.completed ?? "")) known.completed = at;
      if (new_value === "in_progress" && !(known.started && known.started < at)) known.started = at;
      moves.set(String(task_id), known);
    }
    return moves;
  }

  #wip(row: Row): Record<string, unknown> | undefined {
    const given = text(row["work_in_progress"]);
    if (given === undefined) return undefined;
    const value = parseJson(given);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    this.#miss("tasks.work_in_progress", "is not a JSON object");
    return undefined;
  }

  #workingFiles(row: Row): string[] {
    const given = text(row["working_files"]);
    if (given === undefined) return [];
    const value = parseJson(given);
    const list = Array.isArray(value) ? value.map(String) : given.split(/[,\n]/);
    return list.map((path) => path.trim()).filter(Boolean);
  }

  #dependency(row: Row): WorkRecord {
    return recordOf({
      kind: "dependency",
      task_id: text(row["task_id"]),
      depends_on_id: text(row["depends_on_task_id"]),
      type: this.#choice("task_dependencies.dependency_type", row["dependency_type"], DEPENDENCY_TYPES) ?? "blocks",
      created_at: this.#times(row).created_at,
    });
  }

  #blocker(row: Row): WorkRecord[] {
    const reason = text(row["blockers"]);
    if (reason === undefined || reason === "[]") return [];
    if (row["status"] !== "blocked") {
      this.#miss("tasks.blockers", "of tasks that are not blocked");
      return [];
    }
    const { updated_at } = this.#times(row);
    return [recordOf({ kind: "blocker", task_id: text(row["id"]), reason, actor: ACTOR, created_at: updated_at })];
  }

  #failure(row: Row): WorkRecord {
    const reason = text(row["failure_reason"]) ?? "";
    const attempt = Number(row["attempt"]) > 0 ? ` (attempt ${row["attempt"]})` : "";
    const line = cleanLine(reason.split("\n")[0] ?? "", { maxChars: 200 });
    return recordOf({
      kind: "failure",
      task_id: text(row["task_id"]),
      actor: ACTOR,
      created_at: this.#times(row).created_at,
      summary: `${text(row["failure_type"]) ?? "failed"}${attempt}: ${line}`,
      details: reason === line ? undefined : reason,
    });
  }

  #handoff(row: Row): WorkRecord[] {
    const status = this.#choice("task_handoffs.status", String(row["status"] ?? "").toUpperCase(), VERDICTS);
    if (status === undefined) return [];
    const task = text(row["task_id"]) ?? "";
    const files = parseJson(text(row["files_changed"]) ?? "");
    if (row["files_changed"] && !Array.isArray(files)) this.#miss("task_handoffs.files_changed", "is not a JSON list");
    return [
      recordOf({
        kind: "handoff",
        // ohno keeps one handoff per task, without an id. This id lets a second import find it again.
        id: `H-${task}`.slice(0, 64),
        task_id: task,
        role: "implementer",
        attempt: 1,
        status,
        summary: text(row["summary"]) ?? status,
        files_changed: Array.isArray(files) ? files.map(String) : undefined,
        details: text(row["full_details"]),
        actor: ACTOR,
        created_at: this.#times(row).created_at,
        compacted_at: time(row["compacted_at"]),
      }),
    ];
  }

  #activity(row: Row): WorkRecord {
    const [from, to] = [text(row["old_value"]), text(row["new_value"])];
    const said = text(row["description"]) ?? "";
    const isSaid = [from, to].every((value) => value === undefined || said.includes(value));
    const change = isSaid ? "" : `${from ?? "nothing"} → ${to ?? "nothing"}`;
    return recordOf({
      kind: "activity",
      at: this.#times(row).created_at,
      actor: text(row["actor"]) ?? ACTOR,
      activity: cleanLine(text(row["activity_type"]) ?? "note").replace(/[_\s]+/g, "-") || "note",
      subject: text(row["task_id"]),
      text: said && change ? `${said} (${change})` : said || change,
    });
  }

  #summary(row: Row): WorkRecord[] {
    const said = text(row["activity_summary"]);
    if (said === undefined) return [];
    const about = { at: this.#times(row).updated_at, actor: ACTOR, subject: text(row["id"]) };
    return [recordOf({ kind: "activity", ...about, activity: "activity-summary", text: said })];
  }

  /** Always returns both. A missing time is taken from the other one, or from what is here, or finally from the file. */
  #times(row: Row): { created_at: string; updated_at: string } {
    const [created, updated] = [time(row["created_at"]), time(row["updated_at"])];
    const known = this.#known.get(String(row["id"]));
    const { changedAt } = this.#database;
    return {
      created_at: created ?? updated ?? (known?.createdAt ?? changedAt).toISOString(),
      updated_at: updated ?? created ?? (known?.updatedAt ?? changedAt).toISOString(),
    };
  }

  #choice<T extends string>(where: string, given: unknown, choices: readonly T[]): T | undefined {
    if (choices.includes(given as T)) return given as T;
    if (given !== null && given !== undefined && given !== "")
      this.#miss(where, `${JSON.stringify(given)} is not known here`);
    return undefined;
  }

  #rows(table: string): Row[] {
    return this.#database.tables.get(table)?.rows ?? [];
  }

  #countUnknown(): void {
    for (const { name, columns, rows } of this.#database.tables.values()) {
      const taken = TAKEN[name]?.split(" ");
      if (DERIVED.has(name) || rows.length === 0) continue;
      if (!taken) {
        this.#left.set(name, { where: name, count: rows.length, why: `the table ${NO_PLACE}` });
        continue;
      }
      for (const column of columns.filter((column) => !taken.includes(column))) {
        const where = `${name}.${column}`;
        for (const row of rows) {
          const value = row[column];
          if (value !== null && value !== "" && value !== SAYS_NOTHING[where]) this.#miss(where, NO_PLACE);
        }
      }
    }
  }

  #miss(where: string, why: string): void {
    const known = this.#left.get(`${where} ${why}`);
    if (known) known.count++;
    else this.#left.set(`${where} ${why}`, { where, count: 1, why });
  }
}

function add(lists: Map<unknown, unknown[]>, key: unknown, value: unknown): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The status of a group with these members. Undefined: it has no members. */
export function followed(members: readonly unknown[]): string | undefined {
  if (members.some((status) => status === "in_progress" || status === "review" || status === "blocked"))
    return "in_progress";
  const isDone = members.includes("done");
  if (members.includes("todo")) return isDone ? "in_progress" : "todo";
  if (isDone) return "done";
  return members.length > 0 ? "archived" : undefined;
}

/** Leaves out undefined fields. The import checks whether the record is valid. */
export function recordOf(fields: Readonly<Record<string, unknown>>): WorkRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as unknown as WorkRecord;
}

function title(row: Row): string | undefined {
  const given = text(row["title"]);
  return given === undefined ? undefined : given.replace(/\s*[\r\n]+\s*/g, " ").trim() || "(no title)";
}

/** SQLite's own time format has no zone: it is UTC. */
function time(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const iso = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(value) ? `${value.replace(" ", "T")}Z` : value;
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function text(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    // ohno lets agents write anything here; the caller reads it another way, or counts it.
    return undefined;
  }
}
