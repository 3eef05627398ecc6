/**
 * Shows epics with their stories, tasks and sub-tasks as a tree, up to a number of rows; the rest is only counted. Done tasks are folded
 * into a number, except those with open sub-tasks. A sub-task is listed below its parent, whichever story it is in. If the parent is
 * archived and so not shown, it is listed with its story.
 */
import { cleanLine } from "../base/clean-text.ts";
import { everyItem } from "../engine/work/work-parts.ts";
import type { TaskCounts, WorkStore } from "../store/work-store.ts";
import { type GroupStatus, isSettled, type Task, type TaskStatus } from "../work/task.ts";
import type { Call, Output } from "./command.ts";
import { type Cell, commandLine, dim, statusCell, table } from "./print-work.ts";
import type { OpenWork } from "./work.ts";

interface TreeNode {
  kind: "epic" | "story" | "task";
  id: string;
  title: string;
  status: TaskStatus | GroupStatus;
  /** Counts of all tasks below it. */
  counts?: TaskCounts;
  children: TreeNode[];
  /** Direct child tasks that are done and not shown. */
  folded: number;
}

export interface TreeRoot {
  kind: "epic" | "story";
  id: string;
}

interface TreeQuery {
  root?: TreeRoot;
  /** The limit of rows: epics, stories and tasks together. */
  limit: number;
  /** Include what is done. Archived items are listed only on request. */
  isAll: boolean;
  at: Date;
}

const DEFAULT_ROWS = 100;

/** `task list --tree`. */
export async function treeOutput(
  call: Call<{ limit?: number; all?: boolean }>,
  root: TreeRoot | undefined,
  work: OpenWork,
): Promise<Output> {
  const { io, options } = call;
  const { limit = DEFAULT_ROWS, all: isAll = false } = options;
  const query = { limit, isAll, at: work.by.at, ...(root && { root }) };
  const { nodes, leftOut } = await new TreeReader(work.store, query).read();
  const all = limit + leftOut;
  return {
    data: nodes.map(view),
    text: () => {
      const lines = nodes.flatMap((node) => rows(node, 0));
      return table(io, lines).join("\n") || 'Nothing is open; `haversack task create "TITLE"` creates a task.';
    },
    isVerbatim: true,
    ...(leftOut > 0 && { more: `${limit} of ${all} rows; \`${commandLine(call, { limit: all })}\` shows all` }),
  };
}

class TreeReader {
  readonly #store: WorkStore;
  readonly #query: TreeQuery;
  /** Sub-tasks that can be shown, by their parent. */
  readonly #parts = new Map<string, Task[]>();
  readonly #parents = new Map<string, Task>();
  /** Done, but shown because there are open sub-tasks below. */
  readonly #kept = new Map<string, Task>();

  constructor(store: WorkStore, query: TreeQuery) {
    this.#store = store;
    this.#query = query;
  }

  /** `leftOut`: how many rows did not fit. */
  async read(): Promise<{ nodes: TreeNode[]; leftOut: number }> {
    await this.#readParts();
    const all = await this.#nodes();
    const { limit } = this.#query;
    return { nodes: firstRows(all, { left: limit }), leftOut: Math.max(0, countRows(all) - limit) };
  }

  async #nodes(): Promise<TreeNode[]> {
    const { root } = this.#query;
    if (root?.kind === "epic") return [await this.#epic(await this.#store.getEpic(root.id))];
    return root ? [await this.#story(await this.#store.getStory(root.id))] : this.#all();
  }

  async #readParts(): Promise<void> {
    const { at, isAll } = this.#query;
    for await (const part of everyItem((page) => this.#store.listTasks({ ...page, isPart: true, at }))) {
      if (!isAll && isSettled(part.status)) break;
      this.#addPart(part);
    }
    if (!isAll) for (const part of [...this.#parts.values()].flat()) await this.#keepAbove(part);
    for (const siblings of this.#parts.values()) siblings.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  #addPart(part: Task): void {
    const siblings = this.#parts.get(part.parentId as string);
    if (siblings) siblings.push(part);
    else this.#parts.set(part.parentId as string, [part]);
  }

  async #keepAbove(part: Task): Promise<void> {
    for (let at = part; at.parentId !== undefined; ) {
      const parent = await this.#parent(at.parentId);
      if (this.#kept.has(parent.id)) return;
      if (parent.status === "done") {
        this.#kept.set(parent.id, parent);
        if (parent.parentId !== undefined) this.#addPart(parent);
      }
      at = parent;
    }
  }

  async #parent(id: string): Promise<Task> {
    const parent = this.#parents.get(id) ?? (await this.#store.getTask(id, this.#query.at));
    this.#parents.set(id, parent);
    return parent;
  }

  /** Whether a sub-task is shown below its parent, because the parent has its own row. */
  async #isBelow({ parentId }: Task): Promise<boolean> {
    const { root, isAll } = this.#query;
    if (parentId === undefined) return false;
    const parent = await this.#parent(parentId);
    const isShown = isAll ? parent.status !== "archived" : !isSettled(parent.status) || this.#kept.has(parent.id);
    if (!isShown) return false;
    return !root || this.#isInRoot(parent) || this.#isBelow(parent);
  }

  #isInRoot({ storyId, epicId }: Task): boolean {
    const { root } = this.#query;
    return root !== undefined && root.id === (root.kind === "epic" ? epicId : storyId);
  }

  #keptIn({ epicId, storyId }: { epicId?: string; storyId?: string }): Task[] {
    return [...this.#kept.values()].filter(
      (task) => (epicId === undefined || task.epicId === epicId) && (storyId === undefined || task.storyId === storyId),
    );
  }

  async #all(): Promise<TreeNode[]> {
    const nodes: TreeNode[] = [];
    for await (const epic of everyItem((page) => this.#store.listEpics(page))) nodes.push(await this.#epic(epic));
    for await (const story of everyItem((page) => this.#store.listStories(page)))
      if (story.epicId === undefined) nodes.push(await this.#story(story));
    return [...nodes, ...(await this.#tasks({}, (task) => task.storyId === undefined))];
  }

  async #epic(epic: Group): Promise<TreeNode> {
    const node = await this.#group("epic", epic);
    if (this.#isFolded(epic)) return node;
    for await (const story of everyItem((page) => this.#store.listStories({ ...page, epicId: epic.id })))
      node.children.push(await this.#story(story));
    return node;
  }

  async #story(story: Group): Promise<TreeNode> {
    const node = await this.#group("story", story);
    if (this.#isFolded(story)) return node;
    node.children = await this.#tasks({ storyId: story.id });
    if (!this.#query.isAll && node.counts) node.folded = node.counts.done - this.#keptIn({ storyId: story.id }).length;
    return node;
  }

  async #group(kind: "epic" | "story", { id, title, status }: Group): Promise<TreeNode> {
    const counts = await this.#store.countTasks(kind === "epic" ? { epicId: id } : { storyId: id }, this.#query.at);
    return { kind, id, title, status, counts, children: [], folded: 0 };
  }

  async #tasks(scope: { storyId?: string }, isOurs: (task: Task) => boolean = () => true): Promise<TreeNode[]> {
    const { at, isAll } = this.#query;
    const found: Task[] = [];
    for await (const task of everyItem((page) => this.#store.listTasks({ ...scope, ...page, at }))) {
      // Settled tasks are at the end of the list.
      if (!isAll && isSettled(task.status)) break;
      found.push(task);
    }
    const nodes: TreeNode[] = [];
    for (const task of [...found, ...this.#keptIn(scope)])
      if (isOurs(task) && !(await this.#isBelow(task))) nodes.push(this.#task(task));
    return nodes;
  }

  #task({ id, title, status }: Task): TreeNode {
    const children = (this.#parts.get(id) ?? []).map((part) => this.#task(part));
    return { kind: "task", id, title, status, children, folded: 0 };
  }

  #isFolded({ id, status }: Group): boolean {
    const isNeeded = [...this.#kept.values()].some(({ storyId, epicId }) => id === storyId || id === epicId);
    return !this.#query.isAll && !this.#query.root && status === "done" && !isNeeded;
  }
}

interface Group {
  id: string;
  title: string;
  status: GroupStatus;
}

/** Top-down, as they are printed. */
function firstRows(nodes: readonly TreeNode[], room: { left: number }): TreeNode[] {
  const shown: TreeNode[] = [];
  for (const node of nodes) {
    if (room.left <= 0) break;
    room.left--;
    shown.push({ ...node, children: firstRows(node.children, room) });
  }
  return shown;
}

function countRows(nodes: readonly TreeNode[]): number {
  return nodes.reduce((sum, { children }) => sum + 1 + countRows(children), 0);
}

function rows({ kind, id, title, status, counts, children, folded }: TreeNode, depth: number): Cell[][] {
  const indent = "  ".repeat(depth);
  const own = [
    { text: `${indent}${id}`, ...(kind !== "task" && { style: "bold" as const }) },
    statusCell(status),
    `${cleanLine(title)}${counts ? progress(counts) : ""}`,
  ];
  const rest = folded > 0 ? [[dim(`${indent}  ${folded} done`)]] : [];
  return [own, ...children.flatMap((child) => rows(child, depth + 1)), ...rest];
}

/** ` (3 of 9 done)`; archived tasks do not count. */
function progress({ ready: _, archived: __, ...counts }: TaskCounts): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return all === 0 ? " (no tasks)" : ` (${counts.done} of ${all} done)`;
}

function view({ kind, id, title, status, children, folded, counts }: TreeNode): object {
  const done = kind === "story" ? folded : 0;
  return {
    kind,
    id,
    title,
    status,
    ...(children.length === 0 && status === "done" && counts ? { done: counts.done } : done > 0 && { done }),
    ...(children.length > 0 && {
      [kind === "epic" ? "stories" : "tasks"]: children.map((child) =>
        child.kind === "task" ? viewPart(child) : view(child),
      ),
    }),
  };
}

/** For use inside a list of tasks, where the kind is known. */
function viewPart({ id, title, status, children }: TreeNode): object {
  return { id, title, status, ...(children.length > 0 && { tasks: children.map(viewPart) }) };
}
