/**
 * Where a project's work is, if a team shares it: the address in HAVERSACK_STORE, or the one that `haversack store use` recorded for this
 * user. Never from a file of the repository. Loads no driver.
 *
 * Hooks do not ask this: they read the mark in the local store (store/sqlite/shared-mark.ts), which long-lived processes keep up to date.
 */
import { HaversackError } from "../../base/errors.ts";
import { recordAccepted, trustRecord } from "../../base/project-trust.ts";
import { type Place, readPlace } from "../../store/postgres/place.ts";
import type { Environment, ProjectPaths } from "../project.ts";

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
