import { describe, expect, it } from "vitest";
import { SETTING_KEYS, SETTINGS } from "./config-schema.ts";
import { FAR_REACHING, farReaching, trustedConfig } from "./config-trust.ts";

describe("a project's own config", () => {
  it("keeps what stays inside the project", () => {
    const config = {
      skills: { folders: ["docs/skills"], maxSkills: 2, recommendThreshold: 0.5 },
      // This one only switches off a skill that Haversack ships.
      wake: { crossCutting: ["planning:"] },
      "work.leaseMinutes": 5,
    };
    expect(trustedConfig(config, undefined)).toEqual({ value: config, ignored: [] });
    expect(farReaching(config)).toBeUndefined();
  });

  it.each([
    ["skills.autoLoad", "confident"],
    ["skills.enforce", true],
    ["skills.recommendThreshold", 0.1],
    ["skills.autoLoadThreshold", 0],
    ["work.replaceResults", true],
    ["artifacts.sendBack", true],
    ["wake.skillPatterns", ["a: evil"]],
    ["wake.typeSkills", ["bug: evil"]],
    ["wake.crossCutting", ["execution:", "planning: evil"]],
  ])("does not set %s unasked, however it is written", (key, value) => {
    const [section = "", name = ""] = key.split(".");
    for (const config of [{ [key]: value }, { [section]: { [name]: value, other: 1 } }]) {
      const { value: left, ignored } = trustedConfig(config, undefined);
      expect(JSON.stringify(left)).not.toContain(name);
      expect(ignored).toMatchObject([{ key, value }]);
    }
  });

  it("keeps its folders inside and leaves out those outside", () => {
    const config = { skills: { folders: ["a", "/etc", "../b", "c/../../d", "~/skills", "C:\\x", "e"] } };
    const { value, ignored } = trustedConfig(config, undefined);
    expect(value).toEqual({ skills: { folders: ["a", "e"] } });
    expect(ignored).toMatchObject([
      { key: "skills.folders", value: ["/etc", "../b", "c/../../d", "~/skills", "C:\\x"] },
    ]);
  });

  it("takes effect as it was accepted, and no more once it has changed", () => {
    const config = { skills: { autoLoad: "confident" } };
    const accepted = farReaching(config);
    expect(trustedConfig(config, accepted)).toEqual({ value: config, ignored: [] });
    const changed = { skills: { autoLoad: "confident", folders: ["/etc"] } };
    expect(trustedConfig(changed, accepted).ignored.map(({ key }) => key)).toEqual([
      "skills.folders",
      "skills.autoLoad",
    ]);
    // A change of a harmless setting needs no new word.
    expect(trustedConfig({ skills: { autoLoad: "confident", maxSkills: 1 } }, accepted).ignored).toEqual([]);
  });

  it.each([null, 1, "x", [], { skills: null }, { skills: [] }, { skills: { folders: "x" } }])("bears %j", (config) => {
    expect(trustedConfig(config, undefined).ignored).toEqual([]);
  });

  it("knows the defaults of the table of settings", () => {
    for (const [key, { default: usual }] of Object.entries(FAR_REACHING)) {
      expect(SETTING_KEYS).toContain(key);
      if (usual !== undefined) expect(SETTINGS[key as keyof typeof SETTINGS].default).toBe(usual);
    }
  });
});
