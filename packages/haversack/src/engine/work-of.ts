/**
 * Where an open project's work is: in the local store, or in the one that a team shares. Nothing else chooses the driver. `pg` is loaded
 * only for a project with a shared store.
 *
 * Hooks do not ask this: they read the mark in the local store (store/sqlite/meta.ts), which long-lived processes keep up to date.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HaversackError } from "../base/errors.ts";
import { recordAccepted, trustRecord } from "../base/project-trust.ts";
import { type Place, readPlace } from "../store/postgres/place.ts";
import type { RunStore } from "../store/run-store.ts";
import { readStore, type StoreHandle } from "../store/sqlite/access.ts";
import { changeMark } from "../store/sqlite/connect.ts";
import { readSharedMark } from "../store/sqlite/meta.ts";
import { SqliteRunStore } from "../store/sqlite/work/sqlite-run-store.ts";
import { SqliteWorkStore } from "../store/sqlite/work/sqlite-work-store.ts";
import type { WorkStore } from "../store/work-store.ts";
import type { OpenProject } from "./open-project.ts";
import type { Environment, ProjectPaths } from "./project.ts";

export interface ProjectWork {
  store: WorkStore;
  runs: RunStore;
  /** The shared store's address, without a password. Absent: the work is in the local store. */
  shared?: string;
  /** Sends what this machine has changed, and brings the local snapshot up to date. False: the shared store cannot be reached. */
  catchUp(): Promise<boolean>;
  /** Changes when another process has changed something. */
  changeMark(): string;
  /** Resolves when the mark changes, or after this time. */
  waitForChange(mark: string, timeoutMs: number): Promise<void>;
  /** Never fails, because everything is already saved. */
  close(): Promise<void>;
}

export interface WorkOptions {
  /** Receives what a person should know about the shared store. */
  note(text: string): void;
}

export async function openWorkOf(project: OpenProject, options: WorkOptions): Promise<ProjectWork> {
  const place = sharedPlace(project);
  if (place) return (await import("./team/shared-work.ts")).openShared(project, place, options);
  requireOwnWork(project.handle);
  return localWork(project.handle);
}

/** How often a process that waits looks at a local store. */
const LOOK_MS = 1000;

function localWork(handle: StoreHandle): ProjectWork {
  return {
    store: new SqliteWorkStore(handle),
    runs: new SqliteRunStore(handle),
    catchUp: async () => true,
    changeMark: () => changeMark(handle),
    waitForChange: async (mark, timeoutMs) => {
      const until = performance.now() + timeoutMs;
      while (changeMark(handle) === mark && performance.now() < until)
        await sleep(Math.min(LOOK_MS, Math.max(1, until - performance.now())));
    },
    close: async () => undefined,
  };
}

/** Work saved into a snapshot would be lost when it is next updated. */
function requireOwnWork(handle: StoreHandle): void {
  const mark = readStore(handle, readSharedMark);
  if (!mark) return;
  throw new HaversackError(
    "refused",
    `the work of this project is shared at ${mark.shown}, but no address is set here`,
    {
      hint: `\`haversack store use ${mark.shown}\`; \`haversack store use local\` continues with the copy on this machine`,
    },
  );
}

/** For a process that lives long: one connection for everything, as long as the project's store and address stay the same. */
export class KeptWork {
  readonly #options: WorkOptions;
  #kept: { handle: StoreHandle; url: string | undefined; work: Promise<ProjectWork> } | undefined;

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  async of(project: OpenProject): Promise<ProjectWork> {
    const { handle } = project;
    const url = sharedUrl(project)?.url;
    if (this.#kept?.handle !== handle || this.#kept.url !== url) {
      await this.close();
      this.#kept = { handle, url, work: openWorkOf(project, this.#options) };
    }
    const { work } = this.#kept;
    try {
      return await work;
    } catch (error) {
      // The next call tries again.
      this.#kept = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const work = this.#kept?.work;
    this.#kept = undefined;
    await work?.then((opened) => opened.close()).catch(() => undefined);
  }
}

// The address: HAVERSACK_STORE, or what `haversack store use` recorded for this user. Never from a file of the repository.

export const STORE_VARIABLE = "HAVERSACK_STORE";

interface At {
  paths: Pick<ProjectPaths, "state" | "userState">;
  env: Environment;
}

/** Undefined: the work is in the local store. */
export function sharedPlace(project: At): Place | undefined {
  const url = sharedUrl(project)?.url;
  return url === undefined ? undefined : readPlace(url, project.env);
}

export function sharedUrl({ paths, env }: At): { url: string; from: "environment" | "record" } | undefined {
  const given = env[STORE_VARIABLE];
  if (given) return { url: given, from: "environment" };
  const url = trustRecord(paths.state, paths.userState)?.shared;
  return url === undefined ? undefined : { url, from: "record" };
}

/** Undefined: the local store is used from now on. The address must have no password. */
export function recordSharedUrl({ state, userState }: At["paths"], url: string | undefined): void {
  if (recordAccepted(state, userState, { shared: url, at: new Date() })) return;
  throw new HaversackError("store-untrusted", "HOME is not set, so there is no place to record the address", {
    hint: `set HOME or XDG_STATE_HOME, or give the address in ${STORE_VARIABLE}`,
  });
}
