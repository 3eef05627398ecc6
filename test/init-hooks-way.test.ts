/** How events are answered after `init`, by version of the installed client: one process per event, or the running MCP server. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIST } from "./bins.ts";
import { type Repo, repository } from "./wiring-repo.ts";

const LOCAL = ".claude/settings.local.json";

/** Creates a program `claude` that prints this version, and returns its folder. */
function install(repo: Repo, says: string, folder = "bin"): string {
  const file = repo.write(join(repo.base, folder, "claude"), `#!/bin/sh\n${says}\n`);
  chmodSync(file, 0o755);
  return join(repo.base, folder);
}

const version = (text: string) => `echo "${text} (Claude Code)"`;

function init(repo: Repo, folders: string[], ...words: string[]) {
  const PATH = [...folders, repo.env["PATH"]].join(":");
  return repo.runWith({ PATH }, "init", "--yes", "--client", "claude-code", ...words);
}

/** The events that the server answers. */
function asked(repo: Repo, file = LOCAL): string[] {
  const hooks: Record<string, { hooks: { type: string }[] }[]> = JSON.parse(repo.read(file)).hooks;
  return Object.keys(hooks).filter((event) => hooks[event]?.some((group) => group.hooks[0]?.type === "mcp_tool"));
}

const WARM = [
  ...["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop", "Stop"],
];

describe("init", () => {
  it("has a client that is new enough ask the server, and keeps the start and end of a session commands", () => {
    const repo = repository();
    expect(init(repo, [install(repo, version("2.1.120"))]).code).toBe(0);
    expect(asked(repo)).toEqual(WARM);
    expect(init(repo, [join(repo.base, "bin")]).out).toContain("Nothing to do");
  });

  it.each([
    ["an older client", version("2.1.119")],
    ["a client that does not say its version", "exit 1"],
    ["a version that is no version", "echo unknown"],
  ])("writes commands for %s", (_, says) => {
    const repo = repository();
    expect(init(repo, [install(repo, says)]).code).toBe(0);
    expect(asked(repo)).toEqual([]);
  });

  it("says in one line why events start a process, also when nobody asked for the server", () => {
    const repo = repository();
    const notes = (folders: string[], ...words: string[]) =>
      init(repo, folders, ...words)
        .err.split("\n")
        .filter((line) => line.includes("MCP server"));
    const [old, mute] = [install(repo, version("2.1.119"), "old"), install(repo, "exit 1", "mute")];
    const since = "hooks can ask the MCP server from Claude Code 2.1.120 on, and";
    for (const words of [[], ["--hooks", "server"]]) {
      const why = `${since} a claude of version 2.1.119 was found: each event starts a process`;
      expect(notes([old], ...words)).toEqual([expect.stringContaining(why)]);
      expect(notes([mute], ...words)).toEqual([expect.stringContaining("did not say a version")]);
    }
    expect(notes([], "--hooks", "server")).toEqual([expect.stringContaining("no claude was found")]);
    expect(notes([])).toEqual([]);
    expect(notes([old], "--hooks", "command")).toEqual([]);
  });

  it("writes commands where no client is installed, and where one of several is older: all read the file", () => {
    const repo = repository();
    init(repo, []);
    expect(asked(repo)).toEqual([]);
    const folders = [install(repo, version("2.1.325")), install(repo, version("2.1.90"), "old")];
    init(repo, folders);
    expect(asked(repo)).toEqual([]);
    // The same program twice on the PATH counts once.
    mkdirSync(join(repo.base, "link"));
    symlinkSync(join(repo.base, "bin/claude"), join(repo.base, "link/claude"));
    init(repo, [folders[0]!, join(repo.base, "link")]);
    expect(asked(repo)).toEqual(WARM);
  });

  it("wires all projects of the user the same way", () => {
    const repo = repository();
    expect(init(repo, [install(repo, version("2.1.325"))], "--user").code).toBe(0);
    expect(asked(repo, join(repo.home, ".claude/settings.json"))).toEqual(WARM);
  });

  it("leaves the guard to a process", () => {
    const repo = repository();
    repo.skill("knots");
    const rule = { type: "guardrail", enforcement: "block", fileTriggers: { pathPatterns: ["src/**"] } };
    repo.write(".claude/skills/skill-rules.json", JSON.stringify({ version: "1.0", skills: { knots: rule } }));
    init(repo, [install(repo, version("2.1.325"))]);
    expect(JSON.parse(repo.read(LOCAL)).hooks.PreToolUse[0].matcher).toContain("Edit|Write");
    expect(asked(repo)).toEqual(WARM.filter((event) => event !== "PreToolUse"));
  });

  it("moves a project when it is told to, or when the client was replaced by an older one", () => {
    const repo = repository();
    const bin = install(repo, version("2.1.325"));
    init(repo, [bin]);
    init(repo, [bin], "--hooks", "command");
    expect(asked(repo)).toEqual([]);
    init(repo, [bin], "--hooks", "server");
    expect(asked(repo)).toEqual(WARM);
    install(repo, version("2.1.100"));
    const PATH = `${bin}:${repo.env["PATH"]}`;
    const doctor = repo.runWith({ PATH }, "doctor").out;
    expect(doctor).toMatch(/FAIL {2}claude-code hooks: .*too old.*\n +→ `haversack init` repairs it/);
    const { out, err } = init(repo, [bin], "--hooks", "server");
    expect(out + err).toContain("each event starts a process");
    expect(asked(repo)).toEqual([]);
  });
});

describe("a server that was removed from the client", () => {
  const setUp = () => {
    const repo = repository();
    const bin = install(repo, version("2.1.325"));
    init(repo, [bin]);
    const state = join(repo.home, ".claude.json");
    const start = { hook_event_name: "SessionStart", source: "startup", session_id: "s", cwd: repo.root };
    const told = (env: Record<string, string> = {}) => {
      const { stdout, status } = spawnSync(process.execPath, [join(DIST, "hook.cjs"), "claude-code"], {
        ...{ cwd: repo.root, env: { ...repo.env, ...env }, encoding: "utf8" },
        input: JSON.stringify(start),
      });
      expect(status).toBe(0);
      return stdout === "" ? "" : JSON.parse(stdout).systemMessage;
    };
    const remove = () => {
      const { projects } = JSON.parse(repo.read(state));
      delete projects[repo.root].mcpServers.haversack;
      repo.write(state, JSON.stringify({ projects }));
    };
    return { repo, bin, state, told, remove };
  };

  it("is asked no more: at the start of a session our hooks become commands, and the person is told; `init` registers it again", () => {
    const { repo, bin, state, told, remove } = setUp();
    expect(told()).toBe("");
    const warm = repo.read(LOCAL);
    const events = Object.keys(JSON.parse(warm).hooks);
    remove();
    // `doctor` sends such an event too, and changes nothing.
    expect(told({ HAVERSACK_DOCTOR: "1" })).toContain("`haversack init` registers it again");
    expect(repo.read(LOCAL)).toBe(warm);
    expect(repo.run("doctor").out).toContain('no server "haversack"');

    expect(told()).toContain("each event starts a process");
    expect(asked(repo)).toEqual([]);
    expect(Object.keys(JSON.parse(repo.read(LOCAL)).hooks)).toEqual(events);
    expect(told()).toBe("");
    init(repo, [bin]);
    expect(asked(repo)).toEqual(WARM);
    expect(repo.read(LOCAL)).toBe(warm);
    expect(told()).toBe("");
    // Hooks that run commands need no server.
    init(repo, [bin], "--hooks", "command");
    repo.write(state, "{}");
    expect(told()).toBe("");
  });

  it("is left alone where the client's state cannot be read; settings behind a link stay, and the person is told", () => {
    const { repo, state, told, remove } = setUp();
    const whole = repo.read(state);
    repo.write(state, "{");
    expect(told()).toBe("");
    repo.write(state, whole);
    remove();
    const local = join(repo.root, LOCAL);
    renameSync(local, join(repo.base, "elsewhere.json"));
    symlinkSync(join(repo.base, "elsewhere.json"), local);
    expect(told()).toContain("its hooks show errors");
    expect(asked(repo)).toEqual(WARM);
  });
});

describe("a server that was removed from Codex", () => {
  const OWN = /^\[mcp_servers\.haversack\]\n(?:(?!\[).*\n?)*/m;
  const setUp = () => {
    const repo = repository();
    const program = repo.write(join(repo.base, "bin/codex"), "#!/bin/sh\necho codex-cli 0.166.0\n");
    chmodSync(program, 0o755);
    const PATH = `${join(repo.base, "bin")}:${repo.env["PATH"]}`;
    expect(repo.runWith({ PATH }, "init", "--yes", "--client", "codex").code).toBe(0);
    const start = { hook_event_name: "SessionStart", source: "startup", session_id: "s", cwd: repo.root };
    const told = () => {
      const { stdout, status } = spawnSync(process.execPath, [join(DIST, "hook.cjs"), "codex"], {
        ...{ cwd: repo.root, env: repo.env, encoding: "utf8", input: JSON.stringify(start) },
      });
      expect(status).toBe(0);
      return stdout === "" ? "" : JSON.parse(stdout).systemMessage;
    };
    const config = repo.read(".codex/config.toml");
    expect(config).toMatch(OWN);
    return { repo, told, without: config.replace(OWN, "") };
  };
  const HOOKS = ".codex/hooks.json";

  it.each(["", "# [mcp_servers.haversack]\n", '[mcp_servers.other]\nargs = ["/opt/haversack"]\n'])(
    "is asked no more, and the person is told once: %j",
    (left) => {
      const { repo, told, without } = setUp();
      expect(asked(repo, HOOKS)).toEqual(["UserPromptSubmit", "PostToolUse"]);
      repo.write(".codex/config.toml", without + left);
      expect(told()).toContain("trust the changed hooks");
      expect(asked(repo, HOOKS)).toEqual([]);
      expect(told()).toBe("");
    },
  );

  it.each([
    '[mcp_servers."haversack"]\ncommand = "x"\n',
    '[mcp_servers]\nhaversack = { command = "x" }\n',
    'mcp_servers.haversack.command = "x"\n',
    '[plugins."haversack@market"]\nenabled = true\n',
  ])("counts as there in any form of the settings: %j", (form) => {
    const { repo, told, without } = setUp();
    repo.write(".codex/config.toml", without);
    repo.write(join(repo.home, ".codex/config.toml"), form);
    expect(told()).toBe("");
    expect(asked(repo, HOOKS)).not.toEqual([]);
  });
});

describe("doctor", () => {
  it("says which way each event goes, and measures both", () => {
    const repo = repository();
    const PATH = `${install(repo, version("2.1.325"))}:${repo.env["PATH"]}`;
    init(repo, [join(repo.base, "bin")]);
    const warm = repo.runWith({ PATH }, "doctor").out;
    expect(warm).toContain(
      `the running MCP server answers ${WARM.join(", ")}; a process each SessionStart, SessionEnd`,
    );
    expect(warm).toMatch(/claude-code events: 2 test events answered, the slowest in \d+ ms/);
    expect(warm).toMatch(/claude-code MCP server: .*answers events in [\d.]+ to [\d.]+ ms/);
    init(repo, [join(repo.base, "bin")], "--hooks", "command");
    const cold = repo.runWith({ PATH }, "doctor").out;
    expect(cold).toMatch(/a process for each event; `haversack init` lets the running MCP server answer/);
    expect(cold).toMatch(/answers events in/);
  });
});
