/** Shares a project's work with a team, moves it between the local store and a server, and reports where it is. */
import { HaversackError, isFault } from "../../base/errors.ts";
import { type CopyReport, copyToPostgres, copyToSqlite } from "../../store/postgres/copy-work.ts";
import { addMember, listMembers, removeMember } from "../../store/postgres/members.ts";
import { type Place, readPlace } from "../../store/postgres/place.ts";
import { Server, type ServerFacts, type ServerOptions } from "../../store/postgres/server.ts";
import { readStore } from "../../store/sqlite/access.ts";
import { readSharedMark } from "../../store/sqlite/meta.ts";
import { readSnapshotState } from "../../store/sqlite/outbox/outbox.ts";
import type { OpenProject } from "../open-project.ts";
import { recordSharedUrl, STORE_VARIABLE, sharedPlace, sharedUrl } from "../work-of.ts";
import { forwardOutbox } from "./forward.ts";
import { joinShared, leaveShared } from "./shared-work.ts";
import { refreshSnapshot } from "./snapshot.ts";

/** From now on this user's commands in this project work on the shared store. */
export async function useShared(project: OpenProject, url: string): Promise<{ place: Place; facts: ServerFacts }> {
  const place = addressToKeep(url, project);
  return withServer(place, async (server) => {
    const facts = await server.facts();
    await joinShared(project, server);
    recordSharedUrl(project.paths, url);
    await refreshSnapshot(project.handle, server);
    return { place, facts };
  });
}

/** Turns the local snapshot into the project's own work. `left`: the shared store. `unsent`: changes that the shared store will not get. */
export async function useLocal(project: OpenProject): Promise<{ left?: string; isUpToDate: boolean; unsent: number }> {
  requireNoVariable(project);
  const { handle } = project;
  const place = sharedPlace(project);
  const mark = readStore(handle, readSharedMark);
  let isUpToDate = true;
  if (place && mark) {
    try {
      const isOwn = async (server: Server) => (await server.storeId()) === mark.id;
      isUpToDate = await withServer(place, async (server) => (await isOwn(server)) && refreshSnapshot(handle, server));
    } catch (error) {
      if (!isFault(error)) throw error;
      isUpToDate = false;
    }
  }
  const unsent = readSnapshotState(handle).backlog.count;
  leave(project);
  const left = mark?.shown ?? place?.shown;
  return { isUpToDate, unsent, ...(left !== undefined && { left }) };
}

/** Copies all work to an empty project on a server, and uses it from then on. */
export async function migrateToShared(
  project: OpenProject,
  url: string | undefined,
): Promise<{ place: Place; rows: CopyReport }> {
  const { handle, paths } = project;
  const mark = readStore(handle, readSharedMark);
  if (mark) {
    throw new HaversackError("refused", `the work of this project is already at ${mark.shown}`, {
      hint: "`haversack store migrate local` brings it back",
    });
  }
  const place = url === undefined ? sharedPlace(project) : addressToKeep(url, project);
  if (!place) throw new HaversackError("usage", "store migrate needs an address, or `local`");
  return withServer(place, async (server) => {
    await server.prepare();
    const rows = await copyToPostgres(handle, server);
    await joinShared(project, server, { isMoved: true });
    if (url !== undefined) recordSharedUrl(paths, url);
    return { place, rows };
  });
}

/** Brings all work back into the local store, and uses that from then on. The shared store stays as it is. */
export async function migrateToLocal(project: OpenProject): Promise<{ place: Place; rows: CopyReport }> {
  requireNoVariable(project);
  const { handle } = project;
  const place = sharedPlace(project);
  if (!place) throw new HaversackError("refused", "the work of this project is already in the local store");
  return withServer(place, async (server) => {
    await joinShared(project, server);
    await forwardOutbox(server, handle);
    const rows = await copyToSqlite(server, handle, { includeRuns: true });
    leave(project);
    return { place, rows };
  });
}

function leave({ handle, paths }: OpenProject): void {
  leaveShared(handle);
  recordSharedUrl(paths, undefined);
}

export interface SharedStatus {
  place: Place;
  from: "environment" | "record";
  facts?: ServerFacts;
  /** Why the server could not be asked. */
  problem?: HaversackError;
}

/** Undefined: the work is in the local store. */
export async function sharedStatus(project: Pick<OpenProject, "paths" | "env">): Promise<SharedStatus | undefined> {
  const found = sharedUrl(project);
  if (!found) return undefined;
  const place = readPlace(found.url, project.env);
  try {
    return { place, from: found.from, facts: await withServer(place, (server) => server.facts(), { isLooking: true }) };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { place, from: found.from, problem: error };
  }
}

/** Members of the project's shared store. The user needs the right to make roles there. */
export async function withMembers<T>(
  project: Pick<OpenProject, "paths" | "env">,
  use: (members: typeof MEMBERS, server: Server) => Promise<T>,
): Promise<T> {
  const place = sharedPlace(project);
  if (!place) {
    throw new HaversackError("refused", "the work of this project is on this machine only, so it has no members", {
      hint: "`haversack store use URL` or `haversack store migrate URL` shares it first",
    });
  }
  return withServer(place, (server) => use(MEMBERS, server));
}

const MEMBERS = { addMember, listMembers, removeMember };

async function withServer<T>(
  place: Place,
  use: (server: Server) => Promise<T>,
  options: ServerOptions = {},
): Promise<T> {
  const server = new Server(place, options);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

function addressToKeep(url: string, { env }: OpenProject): Place {
  const place = readPlace(url, env);
  if (!place.hasPassword) return place;
  throw new HaversackError("usage", "the address must not contain a password, because it is stored", {
    hint: `give the password in PGPASSWORD or ~/.pgpass; ${STORE_VARIABLE} may hold a whole address`,
  });
}

function requireNoVariable({ env }: OpenProject): void {
  if (!env[STORE_VARIABLE]) return;
  throw new HaversackError("refused", `${STORE_VARIABLE} names a shared store`, {
    hint: `unset ${STORE_VARIABLE} first`,
  });
}
