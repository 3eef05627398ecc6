/**
 * What is running in the whole project, for an orchestrator without a task of its own, and what could start next. The size is bounded:
 * running and ready tasks are read from indexes in order, and only a part of each story is read. The hook bundles this file.
 */

import type { DatabaseSync } from "node:sqlite";
import type { TreeTask, WakeActivity, WakeHandoff, WakeStory } from "../../../../wake/state.ts";
import { all, fromRow, one, type Row } from "../rows.ts";
import { around, numberOf, ONE, ownHandoffs, PARTS, TREE_COLUMNS, toActivity, toTree } from "./wake-work.ts";

export interface Overview {
  stories: readonly WakeStory[];
  moreStories: number;
  /** Handoffs of running tasks and their parts. */
  handoffs: readonly WakeHandoff[];
  activity: readonly WakeActivity[];
  /** The plan of the first story that has one. */
  planFile?: string;
}

/** Further stories are only counted. */
const MOST_STORIES = 3;

/** Limit per status. */
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
    activity: all<Row>(db, ACTIVITY).map(toActivity),
    ...(planFile !== undefined && { planFile }),
  };
}

function moreStories(db: DatabaseSync, groups: readonly Group[], shown: readonly { story: WakeStory }[]): number {
  const underWay = Number(
    one<Row>(db, "SELECT count(*) AS count FROM stories WHERE status = 'in_progress'")?.["count"],
  );
  const named = shown.filter(({ story }) => story.id !== undefined).length;
  return Math.max(underWay - named, groups.length - shown.length, 0);
}

interface Group {
  /** Undefined: tasks without a story. */
  story: number | undefined;
  running: Row[];
  ready: Row[];
}

/** Stories with a running task, last changed first; then stories between two tasks; if there are none, the first of the queue. */
function groupsUnderWay(db: DatabaseSync): Group[] {
  const groups = new Map<number | undefined, Group>();
  const groupOf = (story: number | undefined): Group => {
    let group = groups.get(story);
    if (!group) groups.set(story, (group = { story, running: [], ready: [] }));
    return group;
  };
  const running = ["in_progress", "review", "blocked"].flatMap((status) => all<Row>(db, RUNNING, status));
  running.sort((a, b) => (String(a["updated_at"]) < String(b["updated_at"]) ? 1 : -1));
  for (const row of running) groupOf(numberOf(row["story"])).running.push(row);
  for (const { story } of all<Row>(db, BETWEEN_TASKS)) groupOf(numberOf(story));
  const ready = all<Row>(db, READY, 50);
  for (const row of ready) {
    const story = numberOf(row["story"]);
    if (groups.size === 0 || groups.has(story)) groupOf(story).ready.push(row);
  }
  return [...groups.values()];
}

/** A part such as a review belongs to the story of the whole task. */
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
  const head = seq === undefined ? undefined : one<Row>(db, STORY_HEAD, seq);
  const next = seq === undefined ? ready.slice(0, MOST_READY) : all<Row>(db, READY_OF_STORY, seq);
  // If a part runs, the whole task runs too.
  const wholes = [...new Set(running.flatMap((row) => numberOf(row["parent_seq"]) ?? []))].slice(0, MOST_WHOLES);
  add(wholes.flatMap((whole) => all<Row>(db, ONE, whole)));
  add(running);
  const first = Math.min(...[...rows.keys(), ...next.map((row) => Number(row["seq"]))]);
  if (seq !== undefined) add(all<Row>(db, around("story"), Number.isFinite(first) ? first : 0, seq));
  const runningSeqs = [...rows.keys()].slice(0, MOST_WHOLES);
  add(runningSeqs.flatMap((whole) => all<Row>(db, PARTS, whole)));
  add(next);
  const inOrder = [...rows.values()].sort((a, b) => Number(a["seq"]) - Number(b["seq"]));
  const tree = inOrder.map(toTree);
  const isOver = ({ status }: TreeTask): boolean => status === "done";
  return {
    story: fromRow(head ?? { title: "Tasks of no story", done: tree.filter(isOver).length, total: tree.length }, {
      tree,
      ready: next.map(toTree),
    }),
    rows: inOrder,
  };
}

/** One agent cannot look after more at once. */
const MOST_WHOLES = 20;

const STORY_HEAD = `SELECT s.id, s.title, (SELECT count(*) FROM tasks WHERE story = s.seq AND status = 'done') AS done,
  (SELECT count(*) FROM tasks WHERE story = s.seq AND status <> 'archived') AS total,
  (SELECT plan_file FROM (SELECT plan_file FROM tasks WHERE story = s.seq ORDER BY seq LIMIT 30) WHERE plan_file IS NOT NULL LIMIT 1) AS plan_file
FROM stories s WHERE s.seq = ?`;

/** Handoffs of open tasks only: their verdicts decide which agent comes next. */
function handoffsOf(db: DatabaseSync, rows: readonly Row[]): WakeHandoff[] {
  const isOpen = ({ status }: Row): boolean => status !== "done" && status !== "archived";
  const open = new Set(rows.filter(isOpen).map(({ id }) => id));
  return rows
    .filter((row) => row["verdict"] && (open.has(row["id"] ?? null) || open.has(row["parent"] ?? null)))
    .slice(0, MOST_RUNNING)
    .flatMap((row) => ownHandoffs(db, Number(row["seq"]), toTree(row)));
}

/** After an import of thousands of lines, only the last ones are read. */
const ACTIVITY = `SELECT at, actor, kind, substr(text, 1, 500) AS text, subject FROM (SELECT * FROM activity ORDER BY id DESC LIMIT 200)
WHERE kind NOT LIKE '%-created' AND kind <> 'agent-added' ORDER BY id DESC LIMIT 10`;

/** What could start next, with what is needed to decide. */
export interface Ready {
  /** In queue order. */
  tasks: TreeTask[];
  /** Their parent tasks, with the other parts of those. */
  tree: TreeTask[];
  handoffs: WakeHandoff[];
  count: number;
}

const MOST_OFFERED = 8;

export function readReady(db: DatabaseSync): Ready {
  const rows = all<Row>(db, READY, MOST_OFFERED);
  const wholes = [...new Set(rows.flatMap(({ parent }) => (parent ? [String(parent)] : [])))];
  const tree = wholes.flatMap((id) => {
    const whole = all<Row>(db, `SELECT ${TREE_COLUMNS} FROM tasks t WHERE t.id = ?`, id);
    return [...whole, ...all<Row>(db, PARTS, Number(whole[0]?.["seq"]))];
  });
  const count = one<Row>(db, "SELECT count(*) AS count FROM (SELECT 1 FROM queue WHERE is_ready = 1 LIMIT 1000)");
  return {
    tasks: rows.map(toTree),
    tree: tree.map(toTree),
    handoffs: handoffsOf(db, tree),
    count: Number(count?.["count"] ?? 0),
  };
}
