/**
 * The schema's history, as data that is compiled into every bundle. A released migration never changes; the next one gets the
 * next number and its own file.
 *
 * additive: an older program can still use the store (new tables, new columns with a default).
 * breaking: it cannot. A program that does not know this version refuses to open the store.
 */
import { house } from "./migrations/001-house.ts";
import { skills } from "./migrations/002-skills.ts";
import { clients } from "./migrations/003-clients.ts";
import { work } from "./migrations/004-work.ts";
import { wake } from "./migrations/005-wake.ts";
import { artifacts } from "./migrations/006-artifacts.ts";
import { longRows } from "./migrations/007-long-rows.ts";
import { lastHolders } from "./migrations/008-last-holders.ts";
import { reasonsAndRemovals } from "./migrations/009-reasons-and-removals.ts";
import { aliases } from "./migrations/010-aliases.ts";
import { agentRoles } from "./migrations/011-agent-roles.ts";
import { gitStates } from "./migrations/012-git-states.ts";
import { speakers } from "./migrations/013-speakers.ts";
import { lostClaims } from "./migrations/014-lost-claims.ts";
import { processStart } from "./migrations/015-process-start.ts";
import { reviewOrder } from "./migrations/016-review-order.ts";
import { partsInStories } from "./migrations/017-parts-in-stories.ts";
import { transcripts } from "./migrations/018-transcripts.ts";
import { packedLists } from "./migrations/019-packed-lists.ts";
import { runs } from "./migrations/020-runs.ts";
import { skillContext } from "./migrations/021-skill-context.ts";
import { outputs } from "./migrations/022-outputs.ts";
import { outbox } from "./migrations/023-outbox.ts";

export interface Migration {
  /** 1, 2, 3, … without gaps. */
  version: number;
  kind: "additive" | "breaking";
  sql: string;
}

export const migrations: readonly Migration[] = [
  house,
  skills,
  clients,
  work,
  wake,
  artifacts,
  longRows,
  lastHolders,
  reasonsAndRemovals,
  aliases,
  agentRoles,
  gitStates,
  speakers,
  lostClaims,
  processStart,
  reviewOrder,
  partsInStories,
  transcripts,
  packedLists,
  runs,
  skillContext,
  outputs,
  outbox,
];
