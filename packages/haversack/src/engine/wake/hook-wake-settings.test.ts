import { expect, it } from "vitest";
import { readConfig } from "../../base/config.ts";
import { readHookWakeSettings } from "./hook-wake-settings.ts";
import { wakeSettings } from "./wake-settings.ts";

const FILES: unknown[][] = [
  [],
  [{}],
  [{ wake: { budgetChars: 4000, skillPatterns: ["a: b"], typeSkills: ["bug: c"], crossCutting: ["planning: d"] } }],
  [{ "wake.budgetChars": 5 }, { wake: { budgetChars: 9, skillPatterns: [] } }],
  [{ wake: { budgetChars: -1, skillPatterns: "a: b", typeSkills: [1] } }],
  [{ wake: { budgetChars: 1.5 } }, { wake: { budgetChars: 100_001 } }],
  [{ "wake.typeSkills": ["bug: x"] }, { wake: { typeSkills: ["bug: y"] } }],
  [{ wake: { commitSteps: true } }, { "wake.commitSteps": "yes" }],
  [{ "wake.commitSteps": true }, { wake: { commitSteps: false } }],
  [null, [], "x", { wake: null }, { wake: [] }],
];

it.each(FILES.map((files) => [JSON.stringify(files), files]))("reads %s as the table of settings does", (_, files) => {
  const { config } = readConfig((files as unknown[]).map((value, at) => ({ file: String(at), value })));
  expect(readHookWakeSettings(files as unknown[])).toEqual(wakeSettings(config));
});
