/** The settings of waking that a hook needs, read by hand as in hook-settings.ts. A test holds this reader against the table. */
import type { WakeSettings } from "./gather-wake.ts";

/** Later files beat earlier ones; a wrong value counts as absent. */
export function readHookWakeSettings(files: readonly unknown[]): WakeSettings {
  const settings: WakeSettings = {
    budgetChars: 0,
    skillPatterns: [],
    typeSkills: [],
    crossCutting: [],
    commitsSteps: false,
  };
  for (const file of files) {
    const fields = file as Record<string, Record<string, unknown> | undefined> | null;
    for (const value of [fields?.["wake"]?.["commitSteps"], fields?.["wake.commitSteps"]] as unknown[]) {
      if (typeof value === "boolean") settings.commitsSteps = value;
    }
    for (const name of ["budgetChars", "skillPatterns", "typeSkills", "crossCutting"] as const) {
      for (const value of [fields?.["wake"]?.[name], fields?.[`wake.${name}`]] as unknown[]) {
        if (name === "budgetChars") {
          if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100_000) settings[name] = Number(value);
        } else if (Array.isArray(value) && value.every((line) => typeof line === "string")) settings[name] = value;
      }
    }
  }
  return settings;
}
