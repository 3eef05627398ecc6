/**
 * The settings as a hook finds them: the user's own file, then the project's without what the user has not accepted. A hook never
 * says what is wrong in them; the CLI does. The hook bundles this file.
 */
import { existsSync, readFileSync } from "node:fs";
import { farReaching, trustedConfig } from "./config-trust.ts";
import { trustRecord } from "./project-trust.ts";

export interface ConfigPlaces {
  /** `.haversack/` */
  state: string;
  /** `$XDG_CONFIG_HOME/haversack` */
  user: string;
  userState: string | undefined;
}

/** Later ones beat earlier ones. A file that is no JSON is a fault. */
export function readConfigFiles({ state, user, userState }: ConfigPlaces): unknown[] {
  const own = readJsonFile(`${user}/config.json`);
  const [project] = readJsonFile(`${state}/config.json`);
  if (project === undefined) return own;
  // The record is read only where something depends on it.
  const accepted = farReaching(project) === undefined ? undefined : trustRecord(state, userState)?.settings;
  return [...own, trustedConfig(project, accepted).value];
}

function readJsonFile(file: string): unknown[] {
  // Asked first: an error thrown and caught costs more than the question.
  if (!existsSync(file)) return [];
  try {
    return [JSON.parse(readFileSync(file, "utf8"))];
  } catch (error) {
    // Unreadable: the defaults hold. What is no JSON is told in the log.
    if (error instanceof SyntaxError) throw error;
    return [];
  }
}
