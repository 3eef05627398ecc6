/** What a run is asked for, and everything that it needs from outside. */
import type { StreamedClient } from "../clients/streamed.ts";
import type { WindowFill } from "../engine/wiring.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import type { Run, RunProcess, RunScope, RunStore } from "../store/run-store.ts";
import type { Actor } from "../store/work-store.ts";
import type { RunLimits, StopReason } from "./brakes.ts";
import type { SessionLimits } from "./client-session.ts";
import type { KeepWay } from "./keep-changes.ts";
import type { RunEvent } from "./run-event.ts";
import type { StopSwitch } from "./stop-switch.ts";

export interface RunRequest {
  scope: RunScope;
  client: string;
  options: RunOptions;
  continues?: Run;
}

/** Stored with the run, so continuing it uses the same options. */
export interface RunOptions {
  /** `auto`: grows with success, shrinks with failure. */
  size: "auto" | number;
  limits: RunLimits;
  /** The user's own options for the client. */
  args: readonly string[];
  /** Each task in a worktree and on a branch of its own, with its own session. */
  isIsolated: boolean;
  isTested: boolean;
  /** The branch that isolated tasks are merged into. */
  mergeInto?: string;
}

export interface RunSettings {
  sessionLimits: SessionLimits;
  keep: KeepWay;
  testCommand: string | undefined;
  testLimitMs: number;
  /** Runs in a fresh worktree. */
  setupCommand: string | undefined;
  maxTestRetries: number;
  isAutoFix: boolean;
  /** A session gets further batches while they fit into its window. */
  isFilling: boolean;
  /** Where commits are pushed. */
  push?: { remote: string; name: string } | undefined;
  /** In this order, after the tests. */
  reviewers: readonly string[];
}

export interface RunParts {
  /** The work parts for this actor. */
  work(by: Actor): WorkParts;
  runs: RunStore;
  client: StreamedClient;
  program: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  settings: RunSettings;
  /** Tells this project from the others of this machine. */
  project: string;
  /** A folder of this user's for private files and worktrees. */
  scratch: string;
  machine: string;
  process: RunProcess;
  /** A process on this machine, with its start time: a later process may get the same ID. */
  processOf(id: number): RunProcess;
  /** Undefined: unknown, because the process is on another machine. */
  isAlive(process: RunProcess): boolean | undefined;
  /** The text about a task that the session gets. */
  packet(taskId: string): Promise<string>;
  /** For a reviewer of these tasks: what to look at, and a packet for each task. */
  review(role: string, taskIds: readonly string[]): Promise<{ instructions: string; packets: string[] }>;
  readFill?(sessionId: string, startedAt: Date): WindowFill | undefined;
  /** Sends a message, for clients that take none on standard input. */
  tell(agent: string, text: string): Promise<void>;
  /** Takes back what was sent with `tell` and not read. */
  forgetTold(agent: string): Promise<void>;
  /** Whether the store's file is no longer the one that this process has open. Absent: the queue is on a server. */
  isStoreGone?(): boolean;
  /** Writes what this process still has of the store to another file, and returns a line that says so. */
  saveStore(runId: string): string;
  /** Returns where the report was written. */
  report(end: { run: Run; reason: StopReason; text: string }): Promise<string | undefined>;
  on(event: RunEvent): void;
  /** Present: other machines work on the same queue. */
  shared?: SharedQueue;
  /** Returns early when the run should stop. */
  wait(ms: number, stop: StopSwitch): Promise<void>;
  now(): Date;
}

/** Where tasks are worked on: the project's folder, or a task's own worktree. */
export interface Place {
  cwd: string;
  /** The name under which its sessions hold tasks. */
  agent: string;
}

export interface SharedQueue {
  /** Changes when somebody else has changed something. */
  changeMark(): string;
  /** Returns early when somebody has changed something, or the run should stop. */
  waitForChange(ms: number, stop: StopSwitch): Promise<void>;
}
