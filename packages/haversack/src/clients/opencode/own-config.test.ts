import { expect, it } from "vitest";
import type { Config } from "./client-api.ts";
import { addOwnConfig } from "./own-config.ts";
import { bundleNamedIn, pluginFileText } from "./places.ts";
import { opencodeProfile } from "./profile.ts";

it("adds the server, the command and four agents, in this client's words", () => {
  const config: Config = {};
  addOwnConfig(config, { server: ["node", "haversack.cjs", "mcp"] });
  expect(config.mcp).toEqual({
    haversack: { type: "local", command: ["node", "haversack.cjs", "mcp"], enabled: true },
  });
  expect(Object.keys(config.agent ?? {})).toEqual(
    ["implementer", "spec-reviewer", "quality-reviewer", "fixer"].map((role) => `haversack-${role}`),
  );
  expect(config.command).toMatchObject({ work: { template: expect.stringContaining("$ARGUMENTS") } });
  expect(JSON.stringify(config)).not.toMatch(/ToolSearch|run_in_background|mcp__/);
});

it("leaves what a person has under our names, and adds no server that it cannot start", () => {
  const own = { type: "local", command: ["mine"], enabled: false };
  const config: Config = { mcp: { haversack: own }, command: { work: { template: "mine" } } };
  addOwnConfig(config, { server: ["x"] });
  expect(config).toMatchObject({ mcp: { haversack: own }, command: { work: { template: "mine" } } });
  const none: Config = {};
  addOwnConfig(none, { server: [] });
  expect(none.mcp).toBeUndefined();
});

it("hides deferred skills by the client's own permission, and none where no server of ours would load them", () => {
  const config: Config = { permission: { bash: "ask" } };
  addOwnConfig(config, { server: ["x"], deferred: ["knots"] });
  expect(config.permission).toEqual({ bash: "ask", skill: { knots: "deny" } });
  const none: Config = {};
  addOwnConfig(none, { server: [], deferred: ["knots"] });
  expect(none).not.toHaveProperty("permission");
});

it("writes a file that names the installed plugin", () => {
  const text = pluginFileText({ node: "/n/node", hook: "/a b/hook.cjs", bin: "/a b/haversack.cjs" });
  expect(bundleNamedIn(text)).toBe("/a b/opencode-plugin.mjs");
  expect(text.match(/^export /gm)).toHaveLength(1);
  expect(opencodeProfile()).toMatchObject({ name: "opencode", skillTool: "haversack_skill" });
});
