/** A client's package (plugin, extension) next to `haversack init`: the built package stands back, and works where nothing else runs. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { hookKey } from "../packages/haversack/src/clients/codex/trust.ts";
import { ownHooks } from "../packages/haversack/src/clients/hook-settings.ts";
import { DIST } from "./bins.ts";
import { type Repo, repository } from "./wiring-repo.ts";

const PROMPT = "Tie a bowline knot.";
const FOLDERS = { "claude-code": "plugin", codex: "codex/haversack", gemini: "gemini" };
type Packaged = keyof typeof FOLDERS;

function knotRepo(): Repo {
  const repo = repository("project");
  repo.skill("knots", "Ties knots: bowline, sheet bend and clove hitch.");
  repo.run("skill", "index");
  return repo;
}

/** The command that the package registers for a prompt, as its client runs it. */
function packageSays(repo: Repo, client: Packaged, { cwd = repo.root, session = "s1" } = {}): string {
  const folder = join(DIST, FOLDERS[client]);
  const event = client === "gemini" ? "BeforeAgent" : "UserPromptSubmit";
  const { hooks } = JSON.parse(readFileSync(join(folder, "hooks/hooks.json"), "utf8"));
  const command = String(hooks[event][0].hooks[0].command).replace(
    /\$\{(?:CLAUDE_PLUGIN_ROOT|extensionPath)\}/g,
    folder,
  );
  const payload = { session_id: session, cwd, hook_event_name: event, prompt: PROMPT, transcript_path: "/none" };
  const { stdout, stderr, status } = spawnSync("sh", ["-c", command], {
    cwd,
    env: { ...repo.env, PATH: `${dirname(process.execPath)}:${repo.env["PATH"]}` },
    input: JSON.stringify(payload),
    encoding: "utf8",
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout;
}

describe("a package's hook", () => {
  it.each(["project", "user"] as const)("of Claude Code stands back where init has wired the %s", (scope) => {
    const repo = knotRepo();
    expect(packageSays(repo, "claude-code")).toContain("knots");
    repo.run("init", "--yes", `--${scope}`, "--client", "claude-code");
    expect(packageSays(repo, "claude-code", { session: "s2" })).toBe("");
    mkdirSync(join(repo.root, "src"));
    expect(packageSays(repo, "claude-code", { session: "s2", cwd: join(repo.root, "src") })).toBe("");
    // Nothing else was recorded: only one hook is active in the session.
    expect(repo.run("session", "list").out).not.toContain("s2");
    repo.run("uninstall", "--yes", `--${scope}`);
    expect(packageSays(repo, "claude-code", { session: "s2" })).toContain("knots");
  });

  it("goes on where the program that init named is gone, or the settings cannot be read", () => {
    const repo = knotRepo();
    repo.run("init", "--yes", "--client", "claude-code");
    const path = ".claude/settings.local.json";
    const whole = repo.read(path);
    repo.write(path, whole.replaceAll("/hook.cjs", "/gone/hook.cjs"));
    expect(packageSays(repo, "claude-code")).toContain("knots");
    repo.write(path, "{ no JSON: hook.cjs");
    expect(packageSays(repo, "claude-code", { session: "s2" })).toContain("knots");
    repo.write(path, whole);
    expect(packageSays(repo, "claude-code", { session: "s3" })).toBe("");
  });

  it("of Codex stands back once the project's hooks are trusted, and not before", () => {
    const repo = knotRepo();
    repo.run("init", "--yes", "--client", "codex");
    const config = join(repo.home, ".codex/config.toml");
    const hooks = join(repo.root, ".codex/hooks.json");
    const reviewed = (key: string) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "sha256:x"\n`;
    const plugin = reviewed("haversack@haversack:hooks/hooks.json:user_prompt_submit:0:0");
    const folder = `[projects.${JSON.stringify(repo.root)}]\ntrust_level = "trusted"\n`;
    const own = ownHooks("codex", JSON.parse(readFileSync(hooks, "utf8"))).map((hook) =>
      reviewed(hookKey(hooks, hook)),
    );
    const says = (...parts: string[]) => {
      mkdirSync(dirname(config), { recursive: true });
      writeFileSync(config, parts.join("\n"));
      return packageSays(repo, "codex", { session: `s${parts.length}${Math.random()}` });
    };
    expect(says(plugin)).toContain("knots");
    expect(says(plugin, folder)).toContain("knots");
    expect(says(plugin, ...own)).toContain("knots");
    expect(says(plugin, folder, ...own)).toBe("");
    // Codex was told to run all hooks without review.
    expect(says(folder)).toBe("");
  });

  it("of Gemini CLI stands back in sessions that read the project's settings", () => {
    const repo = knotRepo();
    repo.run("init", "--yes", "--client", "gemini");
    const trust = (level: string) =>
      repo.write(join(repo.home, ".gemini/trustedFolders.json"), JSON.stringify({ [repo.root]: level }));
    expect(packageSays(repo, "gemini")).toContain("knots");
    trust("TRUST_FOLDER");
    expect(packageSays(repo, "gemini", { session: "s2" })).toBe("");
    // The client ignores settings in folders above the session's.
    mkdirSync(join(repo.root, "src"));
    expect(packageSays(repo, "gemini", { session: "s3", cwd: join(repo.root, "src") })).toContain("knots");
    repo.write(".gemini/settings.json", `// mine\n${repo.read(".gemini/settings.json")}`);
    expect(packageSays(repo, "gemini", { session: "s4" })).toBe("");
    repo.write(join(repo.home, ".gemini/settings.json"), '{"security": {"folderTrust": {"enabled": false}}}');
    rmSync(join(repo.home, ".gemini/trustedFolders.json"));
    expect(packageSays(repo, "gemini", { session: "s5" })).toBe("");
  });
});

describe("the plugin's MCP server", () => {
  const tools = (repo: Repo): string[] => {
    const [{ command, args }] = Object.values(
      JSON.parse(readFileSync(join(DIST, "plugin/.mcp.json"), "utf8")).mcpServers,
    ) as [{ command: string; args: string[] }];
    const messages = [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list", params: {} },
    ];
    const { stdout } = spawnSync(
      command,
      args.map((word) => word.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, join(DIST, "plugin"))),
      {
        cwd: repo.root,
        env: { ...repo.env, PATH: `${dirname(process.execPath)}:${repo.env["PATH"]}` },
        input: messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""),
        encoding: "utf8",
      },
    );
    const answer = stdout
      .split("\n")
      .map((line) => JSON.parse(line || "{}"))
      .find(({ id }) => id === 2);
    return answer.result.tools.map(({ name }: { name: string }) => name);
  };

  it("lists no tools where init has wired hooks and server, and all of them where one is missing", () => {
    const repo = knotRepo();
    expect(tools(repo)).toContain("skill");
    repo.run("init", "--yes", "--client", "claude-code");
    expect(tools(repo)).toEqual([]);
    const state = join(repo.home, ".claude.json");
    const whole = repo.read(state);
    writeFileSync(state, "{}");
    expect(tools(repo)).toContain("skill");
    writeFileSync(state, whole);
    repo.write(".claude/settings.local.json", "{}");
    expect(tools(repo)).toContain("skill");
  });
});

it("doctor and init say that the plugin is inactive, and nothing is to be done about it", () => {
  const repo = knotRepo();
  const plugin = join(DIST, "plugin");
  repo.write(
    join(repo.home, ".claude/settings.json"),
    JSON.stringify({ enabledPlugins: { "haversack@haversack": true } }),
  );
  const installed = { plugins: { "haversack@haversack": [{ installPath: plugin }] } };
  repo.write(join(repo.home, ".claude/plugins/installed_plugins.json"), JSON.stringify(installed));
  expect(repo.run("init", "--yes", "--client", "claude-code").err).toContain("it is inactive");
  const { code, out } = repo.run("doctor");
  expect(out).toMatch(/^ok {4}claude-code plugin: enabled, in .*it is inactive/m);
  expect(out).not.toContain("two processes");
  expect(code).toBe(0);
});
