/**
 * The schema's history on PostgreSQL, as for SQLite: a released migration never changes, the next one gets the next number.
 * additive: an older program can still use the store. breaking: it cannot.
 */
import { work } from "./migrations/001-work.ts";
import { runs } from "./migrations/003-runs.ts";
import { changes } from "./migrations/004-changes.ts";
import { claimNext } from "./migrations/007-claim-next.ts";
import { claimFunctions } from "./migrations/008-claim-functions.ts";

export interface Migration {
  version: number;
  kind: "additive" | "breaking";
  sql: string;
}

export const migrations: readonly Migration[] = [work, runs, changes, claimNext, claimFunctions];
