/**
 * Converts what other task tools wrote to records: beads, task-master, Backlog.md, and issues of GitHub as `gh` prints them. Ids stay, so that
 * a second import finds what the first one brought. None of these tools has claims like ours: a task in progress comes as `todo` with a
 * note, or no agent would get it. What has no place here is counted.
 *
 * The later of two changes wins, but some of these files do not say when a thing was changed. Such a thing only comes in as a new one:
 * once it is here it is left alone, since nobody can tell whether the file is newer than what was done here.
 */

import { cleanLine } from "../../base/clean-text.ts";
import { readFrontmatter } from "../../base/frontmatter.ts";
import { isRecord, readJson } from "../../base/json.ts";
import type { WorkRecord } from "../../store/record-fields.ts";
import { DEFAULT_PRIORITY, type Priority, type TaskStatus, type TaskStep, type TaskType } from "../../work/task.ts";
import { followed, type LeftOver, recordOf } from "./ohno-records.ts";

export interface ForeignWork {
  records: WorkRecord[];
  left: LeftOver[];
  problems: { where: string; text: string }[];
  /** Known ids without a time of change in the file; these are left as they are. */
  unchanged: string[];
}

export interface ForeignContext {
  /** The file's time of change, for new things without a time. */
  changedAt: Date;
  /** A later time of change is wrong and counts as absent. */
  now: Date;
  /** When the store created this id. Used for things without a creation time. */
  knownSince(id: string): Date | undefined;
}

type Fields = Record<string, unknown>;

/** Collects the records, and what could not be imported. */
class Collector {
  readonly #context: ForeignContext;
  readonly #tool: string;
  readonly #left = new Map<string, LeftOver>();
  readonly records: WorkRecord[] = [];
  readonly problems: ForeignWork["problems"] = [];
  readonly #unchanged = new Set<string>();
  readonly #ids = new Set<string>();
  /** The statuses of each story's tasks. */
  readonly #statuses = new Map<unknown, TaskStatus[]>();

  constructor(tool: string, context: ForeignContext) {
    this.#tool = tool;
    this.#context = context;
  }

  /**
   * Whether this is the first thing with its id in the file. Others are reported: two things with one id cannot be distinguished at the
   * next import.
   */
  isFirst(id: string): boolean {
    if (this.#ids.has(id)) {
      this.problems.push({ where: id, text: "is in the file twice: only the first one was imported" });
      return false;
    }
    this.#ids.add(id);
    return true;
  }

  task(id: string, given: Fields, { status, note }: Status, more: Fields): void {
    const title = cleanLine(String(given["title"] ?? ""));
    if (title === "") {
      this.problems.push({ where: id, text: "has no title: left out" });
      return;
    }
    const story = more["story_id"];
    const statuses = this.#statuses.get(story);
    if (statuses) statuses.push(status);
    else this.#statuses.set(story, [status]);
    const { createdAt, updatedAt, isKnownOnly } = this.times(id, given);
    if (isKnownOnly) {
      this.#unchanged.add(id);
      return;
    }
    const task = { kind: "task", id, title, type: "feature", status, priority: DEFAULT_PRIORITY, source: this.#tool };
    const notes = note && { note };
    this.records.push(recordOf({ ...task, created_at: createdAt, updated_at: updatedAt, ...notes, ...more }));
  }

  story(id: string, title: string, given: Fields, more: Fields = {}): void {
    const { createdAt, updatedAt, isKnownOnly } = this.times(id, given);
    if (isKnownOnly) {
      this.#unchanged.add(id);
      return;
    }
    const story = { kind: "story", id, title: cleanLine(title) || id, status: "todo", source: this.#tool };
    this.records.push(recordOf({ ...story, created_at: createdAt, updated_at: updatedAt, ...more }));
  }

  depends(task_id: string, depends_on_id: string, type: "blocks" | "relates_to", given: Fields): void {
    // Somebody may have removed it here.
    if (this.#unchanged.has(task_id)) return;
    const { createdAt: created_at } = this.times(task_id, given);
    this.records.push({ kind: "dependency", task_id, depends_on_id, type, created_at } as WorkRecord);
  }

  /** `isKnownOnly`: the record exists here already, and the file does not say when it was changed. */
  times(id: string, given: Fields): { createdAt: string; updatedAt: string; isKnownOnly: boolean } {
    const { changedAt, now, knownSince } = this.#context;
    const first = (...names: string[]) => names.map((name) => timeOf(given[name])).find((time) => time !== undefined);
    const known = knownSince(id);
    const created = first("created_at", "createdAt", "created_date") ?? known;
    // Backlog.md writes no time of change until the first change.
    const updated =
      first("updated_at", "updatedAt", "updated_date", "closed_at", "closedAt") ??
      (given["created_date"] ? created : undefined);
    const createdAt = (created ?? changedAt).toISOString();
    const updatedAt = (updated ?? changedAt).toISOString();
    return {
      createdAt,
      updatedAt: updatedAt < createdAt ? createdAt : updatedAt,
      isKnownOnly: known !== undefined && (updated === undefined || updated > now),
    };
  }

  /** Our value for a word of the tool. An unknown word is reported, and the default is used. */
  word<T extends string>(what: string, given: unknown, words: Readonly<Record<string, T>>, standard: T): T {
    if (given === undefined || given === null || given === "") return standard;
    const word = String(given).toLowerCase();
    const found = Object.hasOwn(words, word) ? words[word] : undefined;
    if (found === undefined)
      this.miss(
        `${what} ${JSON.stringify(cleanLine(word, { maxChars: 60 }))}`,
        word,
        `is unknown here: imported as ${standard}`,
      );
    return found ?? standard;
  }

  /** A task in progress, or with an unknown status, becomes `todo` with a note. */
  status(given: unknown, words: Readonly<Record<string, TaskStatus>>): Status {
    const tool = this.#tool;
    const word = String(given ?? "").toLowerCase();
    const status = this.word("status", given, words, "todo");
    if (status === "in_progress") return { status: "todo", note: `In progress in ${tool}.` };
    if (word === "deferred") return { status, note: `Deferred in ${tool}.` };
    if (word === "" || Object.hasOwn(words, word)) return { status };
    return { status, note: `Status in ${tool}: ${cleanLine(word, { maxChars: 60 })}.` };
  }

  /** Counts a field that we do not store. */
  miss(where: string, value: unknown, why = "has no place here"): void {
    const isEmpty =
      value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
    if (isEmpty) return;
    const known = this.#left.get(where);
    if (known) known.count++;
    else this.#left.set(where, { where, count: 1, why });
  }

  done(): ForeignWork {
    for (const record of this.records)
      if (record.kind === "story") record.status = followed(this.#statuses.get(record.id) ?? []) ?? "todo";
    return {
      records: this.records,
      left: [...this.#left.values()],
      problems: this.problems,
      unchanged: [...this.#unchanged],
    };
  }
}

interface Status {
  status: TaskStatus;
  note?: string;
}

/** One JSON object per line: `.beads/issues.jsonl`, or what `bd export` prints. */
export function beadsRecords(text: string, context: ForeignContext): ForeignWork {
  const found = new Collector("beads", context);
  const issues: (Fields & { id: string })[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { value, problem } = readJson(line);
    if (isRecord(value) && typeof value["id"] === "string") {
      if (value["status"] !== "tombstone" && !value["deleted_at"]) issues.push(value as Fields & { id: string });
    } else
      found.problems.push({ where: `line ${index + 1}`, text: `${problem ?? "is not an issue with an ID"}: left out` });
  }
  const epics = new Set(issues.filter((issue) => issue["issue_type"] === "epic").map(({ id }) => id));
  for (const issue of issues) {
    const { id } = issue;
    if (!found.isFirst(id)) continue;
    const edges = list(issue["dependencies"]).filter(isRecord);
    const parent = edges.find(({ type }) => type === "parent-child")?.["depends_on_id"];
    const texts = { description: joined(issue["description"], section("Design", issue["design"])) };
    const criteria = text_(issue["acceptance_criteria"]);
    if (epics.has(id)) {
      found.story(id, String(issue["title"] ?? ""), issue, { ...texts, acceptance_criteria: criteria });
    } else {
      const minutes = Number(issue["estimated_minutes"]);
      found.task(id, issue, found.status(issue["status"], BEADS_STATUSES), {
        ...texts,
        acceptance_criteria: criteria,
        priority: found.word("priority", issue["priority"], BEADS_PRIORITIES, DEFAULT_PRIORITY),
        type: found.word("issue_type", issue["issue_type"], BEADS_TYPES, "feature"),
        estimate_hours: minutes > 0 ? minutes / 60 : undefined,
        assignee: text_(issue["assignee"]),
        handoff_notes: text_(issue["notes"]),
        ...(typeof parent === "string" && (epics.has(parent) ? { story_id: parent } : { parent_id: parent })),
      });
    }
    for (const edge of edges) {
      if (edge["type"] === "parent-child" || epics.has(id)) continue;
      if (epics.has(String(edge["depends_on_id"]))) found.miss("dependencies on an epic", edge);
      else found.depends(id, String(edge["depends_on_id"]), edge["type"] === "blocks" ? "blocks" : "relates_to", edge);
    }
    for (const name of ["labels", "comments", "external_ref"]) found.miss(name, issue[name]);
  }
  return found.done();
}

const BEADS_STATUSES: Readonly<Record<string, TaskStatus>> = {
  open: "todo",
  in_progress: "in_progress",
  hooked: "in_progress",
  blocked: "blocked",
  deferred: "todo",
  closed: "done",
};
const BEADS_TYPES: Readonly<Record<string, TaskType>> = {
  bug: "bug",
  chore: "chore",
  feature: "feature",
  task: "feature",
};
const BEADS_PRIORITIES: Readonly<Record<string, Priority>> = { 0: "P0", 1: "P1", 2: "P2", 3: "P3", 4: "P3" };
const PRIORITY_OF: readonly Priority[] = ["P0", "P1", "P2", "P3"];

/** `.taskmaster/tasks/tasks.json`: one list of tasks, or one for each tag. */
export function taskMasterRecords(text: string, context: ForeignContext): ForeignWork {
  const found = new Collector("task-master", context);
  const { value, problem } = readJson(text);
  if (!isRecord(value)) {
    found.problems.push({ where: "file", text: problem ?? "is not a task-master object" });
    return found.done();
  }
  const tags = Array.isArray(value["tasks"]) ? { master: value } : value;
  for (const [tag, content] of Object.entries(tags)) {
    if (!isRecord(content) || !Array.isArray(content["tasks"])) {
      found.problems.push({ where: tag, text: "has no list of tasks: left out" });
      continue;
    }
    const metadata = isRecord(content["metadata"]) ? content["metadata"] : {};
    // The tag's time of change says nothing about one task.
    const given = { created_at: metadata["created"] };
    // Numbers alone would look like ids of ours.
    const prefix = tag === "master" ? "tm-" : `tm-${tag.replace(/[^\w-]/g, "-")}-`;
    const story = `${prefix}tasks`;
    found.story(story, tag === "master" ? "Tasks of task-master" : `Tasks of task-master: ${tag}`, given);
    const add = (task: unknown, above?: string) => {
      if (!isRecord(task) || task["id"] === undefined) {
        found.problems.push({ where: tag, text: "a task without an id: left out" });
        return;
      }
      const local = above === undefined ? String(task["id"]) : `${above}.${task["id"]}`;
      const id = prefix + local;
      if (!found.isFirst(id)) return;
      const times = { ...given, updated_at: task["updatedAt"] };
      found.task(id, { title: task["title"], ...times }, found.status(task["status"], TASK_MASTER_STATUSES), {
        description: joined(task["description"], section("Details", task["details"])),
        acceptance_criteria: text_(task["testStrategy"]),
        priority: found.word("priority", task["priority"], WORD_PRIORITIES, DEFAULT_PRIORITY),
        story_id: story,
        ...(above !== undefined && { parent_id: prefix + above }),
      });
      for (const needed of list(task["dependencies"])) {
        // A sub-task names its siblings by their own number.
        const other = above !== undefined && /^\d+$/.test(String(needed)) ? `${above}.${needed}` : String(needed);
        found.depends(id, prefix + other, "blocks", times);
      }
      for (const part of list(task["subtasks"])) add(part, local);
    };
    for (const task of content["tasks"]) add(task);
  }
  return found.done();
}

const TASK_MASTER_STATUSES: Readonly<Record<string, TaskStatus>> = {
  pending: "todo",
  "in-progress": "in_progress",
  done: "done",
  completed: "done",
  review: "review",
  deferred: "todo",
  cancelled: "archived",
  blocked: "blocked",
};
const WORD_PRIORITIES: Readonly<Record<string, Priority>> = { critical: "P0", high: "P1", medium: "P2", low: "P3" };

export interface BacklogFile {
  /** Relative to the folder `backlog`. */
  path: string;
  text: string;
}

/** The task files of `backlog/`. */
export function backlogRecords(files: readonly BacklogFile[], context: ForeignContext): ForeignWork {
  const found = new Collector("Backlog.md", context);
  for (const { path, text } of files) {
    const { data, body } = readFrontmatter(text);
    const id = text_(data["id"]);
    if (id === undefined) {
      found.problems.push({ where: path, text: "has no ID in its frontmatter: left out" });
      continue;
    }
    if (!found.isFirst(id)) continue;
    const place = path.split("/")[0];
    const status = place === "completed" ? "done" : place === "archive" ? "archived" : data["status"];
    const parts = backlogSections(body);
    const [assignee, ...others] = list(data["assignee"]).map((name) => String(name).replace(/^@/, ""));
    const criteria = parts.get("Acceptance Criteria");
    found.task(id, data, found.status(status, BACKLOG_STATUSES), {
      description: joined(parts.get("Description"), section("Implementation Plan", parts.get("Implementation Plan"))),
      steps: criteria && steps(criteria),
      handoff_notes: parts.get("Implementation Notes"),
      priority: found.word("priority", data["priority"], WORD_PRIORITIES, DEFAULT_PRIORITY),
      assignee: assignee || undefined,
      parent_id: text_(data["parent_task_id"]),
    });
    for (const needed of list(data["dependencies"])) found.depends(id, String(needed), "blocks", data);
    found.miss("assignee, more than one", others);
    for (const name of ["labels", "milestone", "references", "documentation"]) found.miss(name, data[name]);
  }
  return found.done();
}

const BACKLOG_STATUSES: Readonly<Record<string, TaskStatus>> = {
  "to do": "todo",
  todo: "todo",
  draft: "todo",
  "in progress": "in_progress",
  done: "done",
  archived: "archived",
  review: "review",
  "in review": "review",
  blocked: "blocked",
};

function backlogSections(body: string): Map<string, string> {
  const parts = new Map<string, string>();
  const plain = body.replace(/<!--[\s\S]*?-->/g, "");
  for (const part of plain.split(/^## /m).slice(1)) {
    const end = part.indexOf("\n");
    const text = end < 0 ? "" : part.slice(end + 1).trim();
    if (text !== "") parts.set(part.slice(0, end < 0 ? undefined : end).trim(), text);
  }
  return parts;
}

/** `- [x] #1 Has a form` */
function steps(text: string): TaskStep[] | undefined {
  const found = [...text.matchAll(/^[ \t]*[-*] \[([ xX])\] (?:#\d+ )?(\S.*)$/gm)];
  return found.length > 0 ? found.map(([, mark, said]) => ({ text: said ?? "", done: mark !== " " })) : undefined;
}

/** What `gh issue list --json number,title,body,state,…` prints. */
export function githubRecords(text: string, context: ForeignContext): ForeignWork {
  const found = new Collector("GitHub", context);
  const { value, problem } = readJson(text);
  if (!Array.isArray(value)) {
    found.problems.push({
      where: "file",
      text: problem ?? "is not a list of issues as `gh issue list --json` prints it",
    });
    return found.done();
  }
  const numbers = new Set(value.filter(isRecord).map((issue) => issue["number"]));
  const milestones = new Set<string>();
  for (const issue of value) {
    if (!isRecord(issue) || !Number.isInteger(issue["number"])) {
      found.problems.push({ where: "file", text: "an issue without a number: left out" });
      continue;
    }
    const id = `gh-${issue["number"]}`;
    if (!found.isFirst(id)) continue;
    const milestone = isRecord(issue["milestone"]) ? issue["milestone"] : undefined;
    const story = milestone && `gh-milestone-${milestone["number"] ?? cleanLine(String(milestone["title"]))}`;
    if (milestone && story && !milestones.has(story)) {
      milestones.add(story);
      found.story(story, String(milestone["title"] ?? ""), {}, { description: text_(milestone["description"]) });
    }
    const labels = list(issue["labels"]).map((label) => String(isRecord(label) ? label["name"] : label));
    const isPlanned = String(issue["stateReason"] ?? "").toUpperCase() !== "NOT_PLANNED";
    const isClosed = String(issue["state"] ?? "").toUpperCase() === "CLOSED";
    const [assignee, ...others] = list(issue["assignees"]).map((person) =>
      isRecord(person) ? person["login"] : person,
    );
    const body = text_(issue["body"]);
    found.task(
      id,
      issue,
      { status: isClosed ? (isPlanned ? "done" : "archived") : "todo" },
      {
        description: joined(body, text_(issue["url"])),
        priority:
          PRIORITY_OF.find((priority) => labels.some((label) => label.toUpperCase() === priority)) ?? DEFAULT_PRIORITY,
        type: labels.some((label) => /^bug$/i.test(label)) ? "bug" : "feature",
        assignee: text_(assignee),
        story_id: story,
      },
    );
    for (const [, number] of (body ?? "").matchAll(/\b(?:blocked by|depends on):? #(\d+)\b/gi))
      if (numbers.has(Number(number))) found.depends(id, `gh-${number}`, "blocks", issue);
    found.miss("assignees, more than one", others);
    found.miss(
      "labels",
      labels.filter((label) => !/^(bug|P[0-3])$/i.test(label)),
    );
    found.miss("comments", issue["comments"]);
  }
  return found.done();
}

// Values as other tools write them.

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function text_(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function section(title: string, value: unknown): string | undefined {
  const text = text_(value);
  return text && `## ${title}\n\n${text}`;
}

function joined(...parts: unknown[]): string | undefined {
  return parts.map(text_).filter(Boolean).join("\n\n") || undefined;
}

/** An ISO time, or Backlog.md's `2026-11-18 14:28`, which is UTC. */
function timeOf(value: unknown): Date | undefined {
  if (typeof value !== "string") return undefined;
  const plain = /^\d{4}-\d\d-\d\d( \d\d:\d\d)?$/.test(value)
    ? `${value.replace(" ", "T")}${value.length > 10 ? ":00Z" : "T00:00:00Z"}`
    : value;
  const time = new Date(plain);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
