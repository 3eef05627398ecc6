/**
 * The work of a project that a team shares: on the server, with a snapshot in the local store for hooks and packets. This file and what it
 * imports is the only code that loads `pg`.
 */
import { spawnSync } from "node:child_process";
import { HaversackError } from "../../base/errors.ts";
import { copyToSqlite, hasWork } from "../../store/postgres/copy-work.ts";
import { Listener } from "../../store/postgres/listener.ts";
import type { Place } from "../../store/postgres/place.ts";
import { PostgresRunStore } from "../../store/postgres/postgres-run-store.ts";
import { PostgresWorkStore } from "../../store/postgres/postgres-work-store.ts";
import { Server } from "../../store/postgres/server.ts";
import { readStore, type StoreHandle } from "../../store/sqlite/access.ts";
import { readSharedMark, writeSharedMark } from "../../store/sqlite/shared-mark.ts";
import type { OpenProject } from "../open-project.ts";
import type { ProjectWork, WorkOptions } from "../work-of.ts";

export async function openShared(project: OpenProject, place: Place, _: WorkOptions): Promise<ProjectWork> {
  const server = new Server(place);
  try {
    await server.prepare();
    await joinShared(project, server);
    await refreshSnapshot(project.handle, server);
  } catch (error) {
    await server.close();
    throw error;
  }
  const listener = new Listener(server);
  return {
    store: new PostgresWorkStore(server),
    runs: new PostgresRunStore(server),
    shared: place.shown,
    changeMark: () => listener.mark,
    waitForChange: (mark, timeoutMs) => listener.wait(mark, timeoutMs),
    close: async () => {
      try {
        if (server.changes > 0) await refreshSnapshot(project.handle, server);
      } catch {
        // What was saved is on the server. The next command brings the snapshot up to date.
      }
      await listener.close();
      await server.close();
    },
  };
}

/** Brings the local work tables up to date, for hooks and packets. */
export async function refreshSnapshot(handle: StoreHandle, server: Server): Promise<void> {
  if (handle.isReadOnly) return;
  await copyToSqlite(server, handle);
}

/**
 * Marks the local store as a snapshot of this shared one. Refused if the local store has work of its own, which a snapshot would replace,
 * or if the shared store belongs to another repository. `isMoved`: the work was copied there a moment ago.
 */
export async function joinShared(
  { handle, paths }: Pick<OpenProject, "handle" | "paths">,
  server: Server,
  { isMoved = false }: { isMoved?: boolean } = {},
): Promise<void> {
  const { shown } = server.place;
  const id = await server.storeId();
  const mark = readStore(handle, readSharedMark);
  if (mark?.id === id) {
    if (mark.shown !== shown) writeSharedMark(handle, { id, shown });
    return;
  }
  if (!mark && !isMoved && hasWork(handle)) {
    throw new HaversackError("refused", `this project has work of its own, which is not at ${shown}`, {
      hint: "`haversack store migrate` copies it there; `haversack export` saves it to a file first",
    });
  }
  const commits = firstCommits(paths.root);
  const [first] = commits;
  if (first !== undefined && !commits.includes(await server.keepFact("repository", first))) {
    throw new HaversackError("refused", `${shown} holds the work of another repository with the same project name`, {
      hint: "give this one a name of its own: ?project=NAME",
    });
  }
  if (!handle.isReadOnly) writeSharedMark(handle, { id, shown });
}

/** The commits that a repository began with: every full clone has the same. Empty: no repository, no commit, or a shallow clone. */
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
