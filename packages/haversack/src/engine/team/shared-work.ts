/**
 * The work of a project that a team shares: on the server, with a snapshot in the local store for hooks and packets. This file and what it
 * imports is the only code that loads `pg`.
 */
import { spawnSync } from "node:child_process";
import { HaversackError } from "../../base/errors.ts";
import { digestOfWork, hasWork } from "../../store/postgres/copy-work.ts";
import { Listener } from "../../store/postgres/listener.ts";
import type { Place } from "../../store/postgres/place.ts";
import { PostgresRunStore } from "../../store/postgres/postgres-run-store.ts";
import type { Server } from "../../store/postgres/server.ts";
import type { RunStore } from "../../store/run-store.ts";
import { readStore, readTogether, type StoreHandle, writeStore } from "../../store/sqlite/access.ts";
import { readMeta, readSharedMark, writeMeta, writeSharedMark } from "../../store/sqlite/meta.ts";
import { backlogOf, forgetSnapshot, readSnapshotState } from "../../store/sqlite/outbox/outbox.ts";
import { SqliteRunStore } from "../../store/sqlite/work/sqlite-run-store.ts";
import type { OpenProject } from "../open-project.ts";
import type { ProjectWork, WorkOptions } from "../work-of.ts";
import { openTeamStore, type TeamStore } from "./team-store.ts";

export async function openShared(project: OpenProject, place: Place, { note }: WorkOptions): Promise<ProjectWork> {
  const { handle } = project;
  const team = openTeamStore({ handle, place, note, join: (server) => joinShared(project, server) });
  try {
    await team.catchUp();
  } catch (error) {
    await team.close();
    throw error;
  }
  const listener = new Listener(team.server);
  return {
    store: team,
    runs: runsOf(team, handle),
    shared: place.shown,
    catchUp: () => team.catchUp(),
    changeMark: () => listener.mark,
    waitForChange: (mark, timeoutMs) => listener.wait(mark, timeoutMs),
    close: async () => {
      await listener.close();
      await team.close();
    },
  };
}

/** Runs are only in the shared store. While it cannot be reached, queries find the runs of this machine, and nothing is saved. */
function runsOf(team: TeamStore, handle: StoreHandle): RunStore {
  const there = new PostgresRunStore(team.server);
  const here = new SqliteRunStore(handle);
  const reading = (name: (typeof RUN_READS)[number]) => [
    name,
    async (...args: never[]) => {
      const isReached = await team.reach();
      if (!isReached) team.noteOffline();
      const runs: RunStore = isReached ? there : here;
      return (runs[name] as (...args: never[]) => Promise<unknown>).apply(runs, args);
    },
  ];
  return Object.assign(Object.create(there), Object.fromEntries(RUN_READS.map(reading)));
}

const RUN_READS = [
  "getRun",
  "listRuns",
  "lastRun",
  "stopRequest",
  "drainedMachines",
  "listSessions",
  "sessionsSince",
  "listTasks",
  "tasksSince",
  "listTests",
  "metricsSince",
] as const;

/**
 * Marks the local store as a snapshot of this shared one. Refused if the local store has work of its own, which a snapshot would replace,
 * or if the shared store belongs to another repository. `isMoved`: the work was copied there a moment ago.
 */
export async function joinShared(
  { handle, paths }: Pick<OpenProject, "handle" | "paths">,
  server: Server,
  { isMoved = false }: { isMoved?: boolean } = {},
): Promise<void> {
  const { shown, key } = server.place;
  const id = await server.storeId();
  const mark = readStore(handle, readSharedMark);
  if (mark?.id === id) {
    const { keys = [] } = mark;
    const known = keys.includes(key) ? keys : [key, ...keys].slice(0, MOST_KEYS);
    if (!handle.isReadOnly && (mark.shown !== shown || known !== keys))
      writeStore(handle, (db) => writeSharedMark(db, { id, shown, keys: known }));
    return;
  }
  const { count } = readSnapshotState(handle).backlog;
  if (mark && count > 0) {
    throw new HaversackError("refused", `${count} changes of this machine wait to be sent to ${mark.shown}`, {
      hint: "use that address until they are sent; `haversack store use local` keeps them on this machine only",
    });
  }
  if (!mark && !isMoved && hasWork(handle) && !isAsLeft(handle, id)) {
    throw new HaversackError("refused", `this project has work of its own, which may not be at ${shown}`, {
      hint: "`haversack store migrate URL` copies it to an empty project; into one with work, export it and import it from another clone",
    });
  }
  const commits = firstCommits(paths.root);
  const [first] = commits;
  if (first !== undefined && !commits.includes(await server.keepFact("repository", first))) {
    throw new HaversackError("refused", `${shown} holds the work of another repository with the same project name`, {
      hint: "give this one a name of its own: ?project=NAME",
    });
  }
  if (handle.isReadOnly) return;
  forgetSnapshot(handle);
  writeStore(handle, (db) => writeSharedMark(db, { id, shown, keys: [key] }));
}

/**
 * Turns the snapshot into the project's own work, and remembers what it was: as long as nothing changes, the project can go back to that
 * shared store. Not if changes were not sent, because then they are on this machine only.
 */
export function leaveShared(handle: StoreHandle): void {
  writeStore(handle, (db) => {
    const mark = readSharedMark(db);
    const isSent = backlogOf(db).count === 0;
    const left = mark && isSent ? `${mark.id} ${digestOfWork(db)}` : undefined;
    writeMeta(db, LEFT, left);
    writeSharedMark(db, undefined);
  });
  forgetSnapshot(handle);
}

/** The work is what it was when the project left the shared store with this ID. */
function isAsLeft(handle: StoreHandle, id: string): boolean {
  return readTogether(handle, (db) => {
    const left = readMeta(db, LEFT);
    return left?.startsWith(`${id} `) === true && left === `${id} ${digestOfWork(db)}`;
  });
}

const LEFT = "left";

/** Of one store. A tunnel may have another port each time. */
const MOST_KEYS = 20;

/** The root commits of a repository, which are the same in every full clone. Empty: no repository, no commit, or a shallow clone. */
function firstCommits(root: string): string[] {
  const git = (...words: string[]) => {
    const { status, stdout } = spawnSync("git", ["-c", "core.fsmonitor=false", ...words], {
      cwd: root,
      encoding: "utf8",
      timeout: GIT_MS,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
    });
    return status === 0 ? stdout.trim() : "";
  };
  if (git("rev-parse", "--is-shallow-repository") !== "false") return [];
  return git("rev-list", "--max-parents=0", "HEAD").split("\n").filter(Boolean).sort();
}

const GIT_MS = 20_000;
