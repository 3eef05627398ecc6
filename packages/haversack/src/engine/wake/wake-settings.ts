/** The settings that waking goes by, out of the table of all settings. */
import type { Config } from "../../base/config-schema.ts";
import type { WakeSettings } from "./wake-up.ts";

type WakeKeys =
  | "wake.budgetChars"
  | "wake.skillPatterns"
  | "wake.typeSkills"
  | "wake.crossCutting"
  | "wake.commitSteps";

export function wakeSettings(config: Pick<Config, WakeKeys>): WakeSettings {
  return {
    budgetChars: config["wake.budgetChars"],
    skillPatterns: config["wake.skillPatterns"],
    typeSkills: config["wake.typeSkills"],
    crossCutting: config["wake.crossCutting"],
    commitsSteps: config["wake.commitSteps"],
  };
}
