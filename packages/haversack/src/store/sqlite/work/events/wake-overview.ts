/**
 * What is under way in the whole project, for an orchestrator that holds no task itself; and what could be started next. Bounded
 * whatever the store holds: running tasks and ready ones come from indexes in their order, each story as a stretch. The hook bundles
 * this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { TreeTask, WakeActivity, WakeHandoff, WakeStory } from "../../../../wake/state.ts";
import {
  all,
  around,
  get,
  numberOf,
  ONE,
  OWN_HANDOFFS,
  optional,
  PARTS,
  TREE_COLUMNS,
  textOf,
  toActivity,
  toHandoff,
  toTree,
} from "./wake-work.ts";

export interface Overview {
  stories: readonly WakeStory[];
  moreStories: number;
  /** Of tasks under way and their parts. */
  handoffs: readonly WakeHandoff[];
  activity: readonly WakeActivity[];
  /** Of the first story that has one. */
  planFile?: string;
}

/** More stories than these are named by their number. */
const MOST_STORIES = 3;
/** Of each status. */
const MOST_RUNNING = 40;
const MOST_READY = 8;
const MOST_WITHOUT_RUNNING = 20;

export function readOverview(db: DatabaseSync): Partial<Overview> {
  const groups = groupsUnderWay(db);
  const stories = groups.slice(0, MOST_STORIES).map((group) => readStory(db, group));
  const shown = stories.filter(({ story }) => story.tree.length > 0);
  if (shown.length === 0) return {};
  const planFile = shown.find(({ story }) => story.planFile !== undefined)?.story.planFile;
  return {
    stories: shown.map(({ story }) => story),
    moreStories: moreStories(db, groups, stories),
    handoffs: shown.flatMap(({ rows }) => handoffsOf(db, rows)),
    activity: all(db, ACTIVITY).map(toActivity),
    ...optional("planFile", planFile),
  };
}

function moreStories(db: DatabaseSync, groups: readonly Group[], shown: readonly { story: WakeStory }[]): number {
  const underWay = Number(get(db, "SELECT count(*) AS count FROM stories WHERE status = 'in_progress'")?.["count"]);
  const named = shown.filter(({ story }) => story.id !== undefined).length;
  return Math.max(underWay - named, groups.length - shown.length, 0);
}

type Row = Record<string, unknown>;

interface Group {
  /** Undefined: tasks of no story. */
  story: number | undefined;
  running: Row[];
  ready: Row[];
}

/** Those with a task that runs, the last changed first; then those between two tasks; if there are none, the first of the queue. */
function groupsUnderWay(db: DatabaseSync): Group[] {
  const groups = new Map<number | undefined, Group>();
  const groupOf = (story: number | undefined): Group => {
    let group = groups.get(story);
    if (!group) groups.set(story, (group = { story, running: [], ready: [] }));
    return group;
  };
  const running = ["in_progress", "review", "blocked"].flatMap((status) => all(db, RUNNING, status));
  running.sort((a, b) => (String(a["updated_at"]) < String(b["updated_at"]) ? 1 : -1));
  for (const row of running) groupOf(numberOf(row["story"])).running.push(row);
  for (const { story } of all(db, BETWEEN_TASKS)) groupOf(numberOf(story));
  const ready = all(db, READY, 50);
  for (const row of ready) {
    const story = numberOf(row["story"]);
    if (groups.size === 0 || groups.has(story)) groupOf(story).ready.push(row);
  }
  return [...groups.values()];
}

/** A part such as a review is of the story of the whole. */
const STORY = "coalesce(t.story, (SELECT p.story FROM tasks p WHERE p.seq = t.parent)) AS story";

const RUNNING = `SELECT ${TREE_COLUMNS}, ${STORY}, t.parent AS parent_seq, t.updated_at FROM tasks t
WHERE t.status = ? ORDER BY t.seq DESC LIMIT ${MOST_RUNNING}`;

const BETWEEN_TASKS = `SELECT seq AS story FROM stories WHERE status = 'in_progress' ORDER BY updated_at DESC LIMIT ${MOST_WITHOUT_RUNNING}`;

const READY = `SELECT ${TREE_COLUMNS}, ${STORY} FROM queue q JOIN tasks t ON t.seq = q.task
WHERE q.is_ready = 1 ORDER BY q.order_key DESC, q.task LIMIT ?`;

const READY_OF_STORY = `SELECT ${TREE_COLUMNS} FROM queue q JOIN tasks t ON t.seq = q.task
WHERE q.story = ? AND q.is_ready = 1 ORDER BY q.order_key DESC, q.task LIMIT ${MOST_READY}`;

function readStory(db: DatabaseSync, { story: seq, running, ready }: Group): { story: WakeStory; rows: Row[] } {
  const rows = new Map<number, Row>();
  const add = (found: readonly Row[]): void => {
    for (const row of found) if (!rows.has(Number(row["seq"]))) rows.set(Number(row["seq"]), row);
  };
  const head = seq === undefined ? undefined : get(db, STORY_HEAD, seq);
  const next = seq === undefined ? ready.slice(0, MOST_READY) : all(db, READY_OF_STORY, seq);
  // By its part, the whole runs too.
  const wholes = [...new Set(running.flatMap((row) => numberOf(row["parent_seq"]) ?? []))].slice(0, MOST_WHOLES);
  add(wholes.flatMap((whole) => all(db, ONE, whole)));
  add(running);
  const first = Math.min(...[...rows.keys(), ...next.map((row) => Number(row["seq"]))]);
  if (seq !== undefined) add(all(db, around("story"), Number.isFinite(first) ? first : 0, seq));
  const runningSeqs = [...rows.keys()].slice(0, MOST_WHOLES);
  add(runningSeqs.flatMap((whole) => all(db, PARTS, whole)));
  add(next);
  const inOrder = [...rows.values()].sort((a, b) => Number(a["seq"]) - Number(b["seq"]));
  const tree = inOrder.map(toTree);
  const isOver = ({ status }: TreeTask): boolean => status === "done";
  return {
    story: {
      ...optional("id", textOf(head?.["id"])),
      title: textOf(head?.["title"]) ?? "Tasks of no story",
      done: head ? Number(head["done"]) : tree.filter(isOver).length,
      total: head ? Number(head["total"]) : tree.length,
      ...optional("planFile", textOf(head?.["plan_file"])),
      tree,
      ready: next.map(toTree),
    },
    rows: inOrder,
  };
}

/** More at once are more than one agent can look after. */
const MOST_WHOLES = 20;

const STORY_HEAD = `SELECT s.id, s.title, (SELECT count(*) FROM tasks WHERE story = s.seq AND status = 'done') AS done,
  (SELECT count(*) FROM tasks WHERE story = s.seq AND status <> 'archived') AS total,
  (SELECT plan_file FROM (SELECT plan_file FROM tasks WHERE story = s.seq ORDER BY seq LIMIT 30) WHERE plan_file IS NOT NULL LIMIT 1) AS plan_file
FROM stories s WHERE s.seq = ?`;

/** Only of what is open: the verdicts decide who is sent next. */
function handoffsOf(db: DatabaseSync, rows: readonly Row[]): WakeHandoff[] {
  const isOpen = ({ status }: Row): boolean => status !== "done" && status !== "archived";
  const open = new Set(rows.filter(isOpen).map(({ id }) => id));
  return rows
    .filter((row) => row["verdict"] && (open.has(row["id"]) || open.has(row["parent"])))
    .slice(0, MOST_RUNNING)
    .flatMap((row) => {
      const { id, title, seq } = row;
      return all(db, OWN_HANDOFFS, Number(seq)).map((found) => toHandoff({ ...found, id, title }));
    });
}

/** Of an import of thousands only the last lines are looked at. */
const ACTIVITY = `SELECT at, actor, kind, substr(text, 1, 500) AS text, subject FROM (SELECT * FROM activity ORDER BY id DESC LIMIT 200)
WHERE kind NOT LIKE '%-created' AND kind <> 'agent-added' ORDER BY id DESC LIMIT 10`;

/** What could be started next, with what decides whether it is its turn. */
export interface Ready {
  /** In the order of the queue. */
  tasks: TreeTask[];
  /** The tasks that they are parts of, with their other parts. */
  tree: TreeTask[];
  handoffs: WakeHandoff[];
  count: number;
}

const MOST_OFFERED = 8;

export function readReady(db: DatabaseSync): Ready {
  const rows = all(db, READY, MOST_OFFERED);
  const wholes = [...new Set(rows.flatMap(({ parent }) => textOf(parent) ?? []))];
  const tree = wholes.flatMap((id) => {
    const whole = all(db, `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.id = ?`, id);
    return [...whole, ...all(db, PARTS, Number(whole[0]?.["seq"]))];
  });
  const count = get(db, "SELECT count(*) AS count FROM (SELECT 1 FROM queue WHERE is_ready = 1 LIMIT 1000)");
  return {
    tasks: rows.map(toTree),
    tree: tree.map(toTree),
    handoffs: handoffsOf(db, tree),
    count: Number(count?.["count"] ?? 0),
  };
}
