/**
 * Project settings that git commits: paths of this machine do not belong in them, and the client has no settings file that is meant to
 * stay out of commits. Its user settings work in every folder, and a hook does nothing in a project without Haversack.
 */

import { readText } from "../../engine/init.ts";
import type { Environment } from "../../engine/project.ts";
import type { Scope } from "../../engine/wiring.ts";
import { gitView } from "../git-view.ts";
import { geminiPlaces } from "./detect.ts";
import { ownGeminiHooks, readGeminiSettings } from "./settings.ts";

export const WIRE_FOR_USER = "haversack init --user --client gemini";

interface Place {
  scope: Scope;
  cwd: string;
  env: Environment;
}

export function isCommitted({ scope, cwd, env }: Place): boolean {
  const { root, projectSettings } = geminiPlaces(cwd, env);
  return scope === "project" && gitView(root, projectSettings) === "tracked";
}

/** Undefined: it can be wired here, or works here already. */
export function blockedByCommit(place: Place): { why: string; instead: string } | undefined {
  const { projectSettings, userSettings } = geminiPlaces(place.cwd, place.env);
  if (!isCommitted(place) || isWired(userSettings)) return undefined;
  return {
    why: `${projectSettings} is committed, and paths of this machine do not belong in it`,
    instead: `\`${WIRE_FOR_USER}\` wires ${userSettings} instead: for all your projects, and it does nothing in those without Haversack`,
  };
}

function isWired(file: string): boolean {
  const text = readText(file);
  if (!text?.trim()) return false;
  try {
    return ownGeminiHooks(readGeminiSettings(text, file)).length > 0;
  } catch {
    // No JSON: `init --user` says what is wrong with it.
    return false;
  }
}
