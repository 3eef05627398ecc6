import { describe, expect, it } from "vitest";
import { readConfig } from "../base/config.ts";
import { discoverSettings } from "./discover.ts";
import { readHookSettings } from "./hook-settings.ts";

const FILES: unknown[][] = [
  [],
  [{}],
  [{ skills: { maxSkills: 2, recommendThreshold: 0.7, enforce: true, autoLoad: "confident" } }],
  [{ "skills.idleMinutes": 5 }, { skills: { idleMinutes: 9, forgetAfterPrompts: 0 } }],
  [{ skills: { maxSkills: "three", recommendThreshold: 2, autoLoad: "always", enforce: 1, idleMinutes: 0 } }],
  [{ skills: { autoLoadThreshold: 0.9 } }, { skills: { autoLoadThreshold: "x" } }],
  [null, [], "x", { skills: null }, { skills: [] }],
];

describe("readHookSettings", () => {
  it.each(FILES.map((files) => [JSON.stringify(files), files]))(
    "reads %s as the table of settings does",
    (_, files) => {
      const { config } = readConfig((files as unknown[]).map((value, at) => ({ file: String(at), value })));
      expect(readHookSettings(files as unknown[])).toEqual(discoverSettings(config));
    },
  );
});
