/**
 * Isolated tasks of a run: each has its own worktree and is merged, in order, into the branch that was checked out when the run started. A task that cannot be merged is blocked, and its work stays on its branch.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { git } from "../engine/artifacts/git-snapshot.ts";
import { releaseTask } from "../engine/work/claims.ts";
import type { RunTask } from "../store/run-store.ts";
import type { TaskDetails } from "../work/task.ts";
import { snapshot } from "./keep-changes.ts";
import type { Place, RunOptions } from "./run-parts.ts";
import type { RunRecord } from "./run-record.ts";
import { RunStop } from "./session-health.ts";
import { runTests } from "./verify.ts";
import { evidenceOf, type Verifier } from "./verify-step.ts";
import {
  addWorktree,
  type Conflict,
  catchUp,
  commitWork,
  indexLock,
  mergeBack,
  removeBranch,
  removeWorktree,
  undoHalfMerge,
  type Worktree,
} from "./worktrees.ts";

interface Merging {
  tree: Worktree;
  place: Place;
  verifier: Verifier;
  message: string;
  /** Blocks the task, and says where its work is. */
  keep(why: string, where?: string): Promise<void>;
}

export class IsolatedTasks {
  readonly #record: RunRecord;
  readonly #options: RunOptions;

  constructor(record: RunRecord, options: RunOptions) {
    [this.#record, this.#options] = [record, options];
  }

  /** After the runner was killed: undoes half merges, and removes the worktrees of tasks that are merged and done. */
  async tidyUp(): Promise<void> {
    await this.#untilUnlocked();
    const { cwd, on } = this.#record.parts;
    const all = [...this.#record.tasks.values()].filter(({ worktree }) => worktree !== undefined);
    const tips = all.map(({ branch = "" }) => git(cwd, ["rev-parse", "--verify", "--quiet", branch])?.trim());
    const places = [
      { place: cwd, isOurs: (commit: string) => tips.includes(commit) },
      // Into a worktree we merge only what is on the user's branch.
      ...all.map(({ worktree = "" }) => ({ place: worktree, isOurs: (commit: string) => isOnBranch(cwd, commit) })),
    ];
    for (const { place, isOurs } of places) {
      if (!existsSync(place) || !undoHalfMerge(place, isOurs)) continue;
      on({ kind: "note", text: `a merge in ${place} was cut off; it will be done again` });
    }
    for (const { state, worktree = "", branch = "" } of all) {
      if (state !== "done" || !existsSync(worktree)) continue;
      removeWorktree(cwd, { folder: worktree });
      removeBranch(cwd, branch);
    }
  }

  /** Undefined: the worktree could not be set up, and the task is blocked; or another agent has taken the task. */
  async placeFor(task: RunTask, verifier: Verifier): Promise<Place | undefined> {
    const record = this.#record;
    if (task.worktree !== undefined && existsSync(task.worktree)) return record.placeOf(task);
    const { cwd, scratch, settings } = record.parts;
    const { taskId } = task;
    const branch = `haversack/${record.run.id}-${taskId}`;
    const folder = join(scratch, "worktrees", `${record.run.id}-${taskId}`);
    const { base } = addWorktree(cwd, { folder, branch });
    // The claim so far is the run's, or that of an earlier worktree.
    const before = record.placeOf(task);
    const known = await record.setTask(taskId, { worktree: folder, branch, base });
    const place = record.placeOf(known);
    const work = record.work(before);
    await releaseTask({ taskId, reason: "it runs apart" }, work);
    if (!(await record.claim(taskId, place))) {
      await record.setTask(taskId, { state: "returned" });
      return undefined;
    }
    if (settings.setupCommand === undefined) return place;
    const setUp = await runTests(settings.setupCommand, {
      cwd: folder,
      ...record.marked(`HAVERSACK_RUN_SETUP`, taskId),
      limitMs: settings.testLimitMs,
    });
    if (setUp.isGreen) return place;
    const reason = `its worktree could not be set up: ${evidenceOf(setUp)}`;
    await verifier.block(await work.store.getTask(taskId, work.by.at), place, { reason });
    return undefined;
  }

  /**
   * In order. Where the user's branch has moved, its commits come into the worktree first and the tests run there: the user's branch only
   * gets what is green together.
   */
  async merge(tasks: readonly TaskDetails[], verifier: Verifier): Promise<void> {
    for (const task of tasks) {
      const known = this.#record.tasks.get(task.id);
      const { worktree: folder, branch, base } = known ?? {};
      if (!known || folder === undefined || branch === undefined || base === undefined) continue;
      await this.#mergeOne(task, { tree: { folder, branch, base }, place: this.#record.placeOf(known), verifier });
    }
  }

  async #mergeOne(
    task: TaskDetails,
    { tree, place, verifier }: Pick<Merging, "tree" | "place" | "verifier">,
  ): Promise<void> {
    const { cwd, on } = this.#record.parts;
    const { folder, branch } = tree;
    const message = `${task.title}\n\n${task.id}, haversack run ${this.#record.run.id}`;
    const keep = async (why: string, where = "on that branch") => {
      on({ kind: "merged", id: task.id, branch, isMerged: false, text: why });
      const reason = `${branch} could not be merged: ${why}; the work is ${where}`;
      await verifier.block(task, place, { reason, state: "conflict" });
    };
    const unsafe = commitWork(tree, message);
    if (unsafe !== undefined) return keep(unsafe, `in ${folder}, on that branch`);
    // A runner that was killed may have merged it.
    const isMerged = isOnBranch(cwd, branch) || (await this.#bringIn(task, { tree, place, verifier, message, keep }));
    if (!isMerged) return;
    on({ kind: "merged", id: task.id, branch, isMerged: true, text: "" });
    await verifier.finish(task, place);
    removeWorktree(cwd, tree);
    removeBranch(cwd, branch);
  }

  /** False: it was not merged, and what there is to say was said. */
  async #bringIn(task: TaskDetails, { tree, place, verifier, message, keep }: Merging): Promise<boolean> {
    const { cwd, scratch } = this.#record.parts;
    const drop = async (conflict: Conflict) => {
      await keep(conflict.files.length > 0 ? `conflict in ${conflict.files.join(", ")}` : conflict.text);
      removeWorktree(cwd, tree);
      return false;
    };
    const before = snapshot(tree.folder, scratch);
    const caughtUp = catchUp(cwd, tree);
    if (caughtUp.kind === "conflict") return drop(caughtUp);
    if (caughtUp.kind === "moved") {
      // Tests that pass in each of two worktrees may fail with both changes.
      const lane = { place, tasks: [{ id: task.id, title: task.title }], before };
      const { done, unverified } = await verifier.verify([task], lane, { isReviewed: true });
      if (unverified > 0) return false;
      // What a fixer changed.
      const unsafe = commitWork(tree, message);
      if (unsafe !== undefined && done.length > 0) await keep(unsafe, `in ${tree.folder}, on that branch`);
      if (unsafe === undefined && done.length === 0) removeWorktree(cwd, tree);
      if (unsafe !== undefined || done.length === 0) return false;
    }
    await this.#untilUnlocked();
    const merged = mergeBack(cwd, tree, { into: this.#options.mergeInto, title: task.title });
    return merged.kind === "conflict" ? drop(merged) : true;
  }

  /** A git process of the user's, or the merge of a runner that was just killed, ends soon. */
  async #untilUnlocked(): Promise<void> {
    const { cwd, wait } = this.#record.parts;
    for (const ms of LOCK_WAITS_MS) {
      if (indexLock(cwd) === undefined) return;
      await wait(ms, this.#record.stop);
    }
    const lock = indexLock(cwd);
    if (lock === undefined) return;
    throw new RunStop(
      "cannot-keep",
      `${lock} is there, so nothing can be merged: another git process works here, or was killed and left it`,
    );
  }
}

const LOCK_WAITS_MS = [1_000, 5_000, 30_000, 60_000];

function isOnBranch(cwd: string, commit: string): boolean {
  return git(cwd, ["merge-base", "--is-ancestor", commit, "HEAD"]) !== undefined;
}
