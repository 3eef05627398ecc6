import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { configJsonSchema, SETTING_KEYS, SETTINGS } from "./config-schema.ts";

const read = (value: unknown) => readConfig([{ file: "config.json", value }]);

describe("readConfig", () => {
  it("gives every default when there is no file", () => {
    const { config, problems } = readConfig([]);
    expect(problems).toEqual([]);
    for (const key of SETTING_KEYS) expect(config[key]).toEqual(SETTINGS[key].default);
  });

  it("takes nested and dotted keys alike, and later files beat earlier ones", () => {
    const { config, origin } = readConfig([
      { file: "user", value: { skills: { maxSkills: 1 }, "log.keep": 5 } },
      { file: "project", value: { "skills.max_skills": 2 } },
    ]);
    expect(config["skills.max_skills"]).toBe(2);
    expect(config["log.keep"]).toBe(5);
    expect(origin).toEqual({ "skills.max_skills": "project", "log.keep": "user" });
  });

  it("names the path of a wrong value and keeps the value that was there", () => {
    const { config, problems } = read({ skills: { maxSkills: "three" } });
    expect(config["skills.max_skills"]).toBe(3);
    expect(problems).toEqual([
      {
        level: "error",
        file: "config.json",
        path: "skills.max_skills",
        text: 'must be a whole number from 1 to 10, but is "three"',
      },
    ]);
  });

  it.each([
    [{ skills: { enforce: "yes" } }, 'must be true or false, but is "yes"'],
    [{ skills: { autoLoad: "always" } }, 'must be one of asked, confident, but is "always"'],
    [{ skills: { folders: "x" } }, 'must be a list of texts, but is "x"'],
    [{ skills: { folders: [1] } }, "must be a list of texts, but is a list"],
    [{ skills: { recommendThreshold: 7 } }, "must be a number from 0 to 1, but is 7"],
    [{ skills: { maxSkills: 1.5 } }, "must be a whole number from 1 to 10, but is 1.5"],
  ])("refuses %j", (value, text) => {
    expect(read(value).problems.map((problem) => problem.text)).toEqual([text]);
  });

  it("warns of unknown keys and goes on", () => {
    const { config, problems } = read({ $schema: "x", skils: { maxSkills: 2 }, "log.keep": 4 });
    expect(problems).toEqual([
      { level: "warning", file: "config.json", path: "skils.maxSkills", text: "is not a setting, so it is ignored" },
    ]);
    expect(config["log.keep"]).toBe(4);
  });

  it("refuses a file that holds no object", () => {
    expect(read([]).problems[0]?.text).toBe("must hold an object, but holds a list");
  });
});

it("publishes a schema that has every setting with its default", () => {
  const schema = configJsonSchema() as {
    properties: Record<string, { properties: Record<string, { default: unknown }> }>;
  };
  for (const key of SETTING_KEYS) {
    const [section = "", name = ""] = key.split(".");
    expect(schema.properties[section]?.properties[name]?.default).toEqual(SETTINGS[key].default);
  }
});
