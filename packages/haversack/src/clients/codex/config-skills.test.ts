import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disableSkills, enableSkills, mergeServer } from "./config.ts";

const file = "/home/x/.codex/config.toml";
const KNOTS = "/repo/.agents/skills/knots/SKILL.md";
const SAILS = "/repo/.agents/skills/sails/SKILL.md";

describe("disableSkills", () => {
  it("adds a table for each skill, and enableSkills takes out just those", () => {
    const before = 'model = "m"\n\n[projects."/repo"]\ntrust_level = "trusted"\n';
    const { text, own, keep } = disableSkills(before, [KNOTS, SAILS], { file, own: {} });
    expect(text).toBe(
      `${before}\n[[skills.config]]\npath = "${KNOTS}"\nenabled = false\n\n[[skills.config]]\npath = "${SAILS}"\nenabled = false\n`,
    );
    expect(disableSkills(text, [KNOTS, SAILS], { file, own }).text).toBe(text);
    expect(enableSkills(text, own, { keep })).toBe(before);
    const [, second] = Object.entries(own);
    expect(enableSkills(text, Object.fromEntries([second!]), { keep })).toContain(KNOTS);
  });

  it("leaves an entry of the person's, switched on or off, and one of ours that they changed", () => {
    const mine = `[[skills.config]]\npath = "${KNOTS}"\nenabled = true\n`;
    const change = disableSkills(mine, [KNOTS], { file, own: {} });
    expect(change).toMatchObject({ text: mine, own: {}, foreign: [{ key: KNOTS, value: "enabled = true" }] });
    expect(enableSkills(mine, { [KNOTS]: "disabled" }, { keep: [] })).toBe(mine);
    const more = `[[skills.config]]\npath = "${KNOTS}"\nenabled = false\nname = "knots"\n`;
    expect(enableSkills(more, { [KNOTS]: "disabled" }, { keep: [] })).toBe(more);
  });

  it.each(["skills = { config = [] }\n", "[skills]\nconfig = []\n", "skills.config = []\n"])(
    "refuses a file that a table would break: %j",
    (text) => {
      expect(() => disableSkills(text, [KNOTS], { file, own: {} })).toThrow(/cannot be added to/);
    },
  );

  it("gives back every byte, whatever else is in the file", () => {
    const part = fc.constantFrom(
      "# comment\n",
      "\n",
      'model = "m"\n',
      "[tui]\n",
      "[skills]\n",
      '[[skills.config]]\nname = "other"\nenabled = false\n',
      'a = """\n[[skills.config]]\n"""\n',
      "x = 1\r\n",
    );
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), (parts, isOpen) => {
        const before = isOpen ? parts.join("").replace(/\r?\n$/, "") : parts.join("");
        const { text, own, keep } = disableSkills(before, [KNOTS, SAILS], { file, own: {} });
        expect(enableSkills(text, own, { keep })).toBe(before);
      }),
    );
  });

  it("stands beside the server's table", () => {
    const wired = mergeServer("", { file, node: "/n", bin: "/b/haversack.cjs" }).text;
    const { text, own, keep } = disableSkills(wired, [KNOTS], { file, own: {} });
    expect(mergeServer(text, { file, node: "/n", bin: "/b/haversack.cjs" }).text).toBe(text);
    expect(enableSkills(text, own, { keep })).toBe(wired);
  });
});
