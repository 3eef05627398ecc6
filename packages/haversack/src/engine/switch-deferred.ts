/**
 * What `off` and `on` do to deferred skills: while Haversack is off nothing brings them, so the clients list them again. Whatever goes
 * wrong with one client's settings is reported and stops nothing: the switch itself must hold.
 */
import { join } from "node:path";
import { errorText } from "../base/errors.ts";
import { STATE_FOLDER } from "../base/project-root.ts";
import { checkTrust, userStateFolder } from "../base/project-trust.ts";
import { type DeferReport, pauseDeferred, resumeDeferred } from "./defer-skills.ts";
import type { Environment } from "./project.ts";
import type { Client, Deferral } from "./wiring.ts";
import { readReceipt } from "./wiring-receipt.ts";

export interface SwitchedSkills {
  project: string;
  client: Client;
  report: DeferReport;
  /** Why nothing was done there; the report is empty then. */
  problem?: string;
}

interface Place {
  clients: readonly Client[];
  env: Environment;
}

/** `projects`: their root folders. */
export function restoreListings(projects: readonly string[], place: Place): SwitchedSkills[] {
  return inEach(projects, place, { part: "entries", act: pauseDeferred });
}

export function deferAgain(projects: readonly string[], place: Place): SwitchedSkills[] {
  return inEach(projects, place, { part: "paused", act: resumeDeferred });
}

function inEach(
  projects: readonly string[],
  { clients, env }: Place,
  {
    part,
    act,
  }: { part: "entries" | "paused"; act(deferral: Deferral, options: { folder: string; cwd: string }): DeferReport },
): SwitchedSkills[] {
  return projects.flatMap((project) =>
    clients.flatMap((client): SwitchedSkills[] => {
      const folder = join(project, STATE_FOLDER);
      // Somebody else's receipt is not believed; the switch itself works all the same.
      if (checkTrust(folder, userStateFolder(env)).kind === "untrusted") return [];
      const deferral = client.deferral?.({ cwd: project, env });
      if (!deferral || !readReceipt(folder).deferred[part][deferral.path]) return [];
      try {
        return [{ project, client, report: act(deferral, { folder, cwd: project }) }];
      } catch (error) {
        const report = { file: deferral.path, skills: [], skipped: [], isChanged: false };
        return [{ project, client, report, problem: errorText(error) }];
      }
    }),
  );
}
