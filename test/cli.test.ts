import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS, namesOf } from "../packages/haversack/src/cli/table.ts";
import { DIST, scratchProject } from "./bins.ts";

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../packages/haversack/package.json"), "utf8"));

const escaped = (text: string) => text.replace(/[|()]/g, "\\$&");

describe("the shell of the CLI", () => {
  it("prints its version", () => {
    const { code, out } = scratchProject().haversack(["--version"]);
    expect({ code, out }).toEqual({ code: 0, out: `${version}\n` });
  });

  it("lists every command in its help", () => {
    const { code, out } = scratchProject().haversack(["--help"]);
    expect(code).toBe(0);
    for (const name of COMMANDS.flatMap(namesOf)) expect(out).toMatch(new RegExp(`\\b${name.split(" ")[0]}\\b`));
    // Fits on one screen of a small terminal.
    expect(out.split("\n").length).toBeLessThanOrEqual(24);
    expect(Math.max(...out.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
    const all = scratchProject().haversack(["help", "all"]).out;
    for (const { name, summary } of COMMANDS)
      expect(all).toMatch(new RegExp(`^  ${escaped(name)} +${escaped(summary)}$`, "m"));
  });

  it("help and --help of a family show its commands, and the same of a command its help", () => {
    const project = scratchProject();
    const { out } = project.haversack(["help", "story"]);
    expect(out).toMatch(/^ {2}story create\|update\|list\|show {2}/m);
    expect(project.haversack(["story", "--help"]).out).toBe(out);
    expect(project.haversack(["help", "config", "set"]).out).toBe(project.haversack(["config", "set", "--help"]).out);
    expect(project.haversack(["help", "done"]).out).toBe(project.haversack(["task", "done", "--help"]).out);
  });

  it.each(COMMANDS.flatMap(namesOf))("%s --help shows usage, options and an example", (name) => {
    const { code, out, err } = scratchProject().haversack([...name.split(" "), "--help"]);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(out).toContain(`Usage: haversack ${name}`);
    expect(out).toMatch(/Examples:\n {2}\S/);
  });

  it.each([
    [["stor", "check"], 'unknown command "stor"', "did you mean `haversack store`?"],
    [["hlep"], 'unknown command "hlep"', "did you mean `haversack help`?"],
    [["ls"], 'unknown command "ls"', "did you mean `haversack task list`?"],
    [["task", "add"], 'unknown command "task add"', "did you mean `haversack task create`?"],
    [["task", "rm"], 'unknown command "task rm"', "did you mean `haversack task archive`?"],
    [["store", "chek"], 'unknown command "store chek"', "did you mean `haversack store check`?"],
    [["store", "check", "--jsn"], "store check: unknown option --jsn", "did you mean --json?"],
    [["log", "--limit", "many"], 'log: --limit must be a whole number of at least 1, but is "many"'],
    [["log", "--limit"], "log: --limit needs a value: --limit N"],
    [
      ["log", "--level", "eror"],
      'log: --level must be one of error, warn, info, debug, but is "eror"',
      "did you mean error?",
    ],
    [["store", "backup"], "store backup: FILE is missing: where to write the copy"],
    [["on", "now"], 'on: unexpected argument "now"'],
    [["handoff", "set", "T4829", "T1207"], 'handoff set: unexpected argument "T1207"; it takes one TASK'],
    [["task", "create", "Fix", "it"], 'task create: unexpected argument "it"; a TITLE of several words needs quotes'],
    [["config", "skills.maxSkill"], 'there is no setting "skills.maxSkill"', "did you mean skills.max_skills?"],
    [["store", "purge"], "store purge needs --older-than, such as --older-than 90d"],
    [
      ["store", "purge", "--older-than", "soon"],
      '"soon" is not an age: write 30m, 12h, 90d, 8w or a date such as 2026-09-01',
    ],
  ])("%j is wrong usage: one error, one hint, exit 2", (words, line, hint?: string) => {
    const { code, err, out } = scratchProject().haversack(words);
    expect(err.split("\n")[0]).toBe(`haversack: error: ${line}`);
    if (hint) expect(err.split("\n")[1]).toBe(`haversack: hint: ${hint}`);
    expect(err).toMatch(/^haversack: error: .*\nhaversack: hint: .*\n$/);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  it("a group without a command lists its commands and is wrong usage", () => {
    const { code, err } = scratchProject().haversack(["store"]);
    expect(code).toBe(2);
    expect(err).toContain("store backup");
  });

  it("prints no colour into a pipe", () => {
    const project = scratchProject();
    project.write(
      ".haversack/log/haversack.log",
      `${JSON.stringify({ at: new Date(), level: "error", part: "x", text: "y" })}\n`,
    );
    expect(project.haversack(["log"]).out).not.toContain("\u001b");
  });

  it.each(["bash", "zsh", "fish"])("%s accepts the completion script", (shell) => {
    const { haversack, write } = scratchProject();
    const { code, out } = haversack(["completion", shell]);
    expect(code).toBe(0);
    expect(out).toContain("purge");
    const check = spawnSync(shell, ["-n", write("script", out)], { encoding: "utf8" });
    // Only bash is on every machine. For a missing shell, only the script's text is checked.
    if (check.error) expect((check.error as NodeJS.ErrnoException).code).toBe("ENOENT");
    else expect(check.stderr).toBe("");
    if (shell === "bash") expect(check.status).toBe(0);
  });

  it("completes files, values and names in fish", () => {
    const { root, haversack, write } = scratchProject();
    const script = haversack(["completion", "fish"]).out;
    const file = write("fish/haversack.fish", script);
    expect(script).toContain("complete -c haversack -n '__fish_seen_subcommand_from import' -F");
    write("plan.md", "# Plan\n");
    const asked = `cd ${root}; source ${file}; complete -C"haversack import "; complete -C"haversack task list --status re"
function haversack; echo {$argv[3]}T1111; end; complete -C"haversack task show "; complete -C"haversack next --epic "`;
    const fish = spawnSync("fish", ["--no-config", "-c", asked], { encoding: "utf8" });
    if (fish.error) expect((fish.error as NodeJS.ErrnoException).code).toBe("ENOENT");
    else
      expect(fish.stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(
        expect.arrayContaining(["plan.md", "review", "tasksT1111", "epicsT1111"]),
      );
  });

  it("completes commands, options, their values and names of the project in zsh, from the first key on", () => {
    const project = scratchProject();
    const task = JSON.parse(project.haversack(["task", "create", "First: the pump", "--json"]).out).id as string;
    project.write("fpath/_haversack", project.haversack(["completion", "zsh"]).out);
    const program = `"${process.execPath}" "${join(DIST, "haversack.cjs")}"`;
    const script = project.write("zsh-complete.zsh", zshCompletion({ fpath: join(project.root, "fpath"), program }));
    const complete = (line: string) => {
      const { error, stdout } = spawnSync("zsh", ["-f", script, line], {
        cwd: project.root,
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: project.home },
      });
      // A machine without the shell: the test above that reads every script still checks this one's text.
      if (error) expect((error as NodeJS.ErrnoException).code).toBe("ENOENT");
      return error ? undefined : stdout.split(/\s+/).filter(Boolean);
    };
    if (!complete("haversack ")) return;
    expect(complete("haversack ses")).toEqual(["session"]);
    expect(complete("haversack store re")).toEqual(["restore"]);
    expect(complete("haversack store purge --ol")).toEqual(["--older-than"]);
    expect(complete("haversack task list --fields st")).toEqual(["standard"]);
    expect(complete("haversack task list --fields=st")).toEqual(["standard"]);
    expect(complete("haversack task show T")).toEqual([task]);
  });

  it("completes commands and options in bash", () => {
    const { out } = scratchProject().haversack(["completion", "bash"]);
    const complete = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _haversack; echo "\${COMPREPLY[*]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim().split(" ");
    };
    expect(complete("haversack", "ses")).toEqual(["session"]);
    expect(complete("haversack", "store", "re")).toEqual(["restore"]);
    expect(complete("haversack", "store", "purge", "--ol")).toEqual(["--older-than"]);
    expect(complete("haversack", "log", "--le")).toEqual(["--level"]);
    expect(complete("haversack", "log", "--level", "")).toEqual(["error", "warn", "info", "debug"]);
    expect(complete("haversack", "task", "list", "--epic", "E1", "--fields", "st")).toEqual(["standard"]);
    expect(complete("haversack", "task", "list", "--fields", "=", "st")).toEqual(["standard"]);
    expect(complete("haversack", "task", "list", "--fields", "=")).toEqual(["minimal", "standard", "full"]);
    expect(complete("haversack", "completion", "f")).toEqual(["fish"]);
    expect(complete("haversack", "help", "ta")).toEqual(["task"]);
  });

  it("completes IDs and names of the project in bash", () => {
    const project = scratchProject();
    const idOf = (...words: string[]) => JSON.parse(project.haversack([...words, "--json"]).out).id as string;
    const task = idOf("task", "create", "First: the pump");
    const epic = idOf("epic", "create", "Pumps");
    project.haversack(["agent", "add", "june", "--role", "implementer"]);
    project.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots.\n---\n");
    expect(project.haversack(["completion", "--list", "tasks"]).out).toBe(`${task}\tFirst: the pump\n`);
    const lists = ["tasks", "epics", "stories", "agents", "runs", "skills", "sessions"];
    const stubs = lists.map(
      (kind) => `${kind}) printf '%s' '${project.haversack(["completion", "--list", kind]).out}' ;;`,
    );
    const { out } = project.haversack(["completion", "bash"]);
    const complete = (line: string) => {
      const words = line.split(" ");
      const typed = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`;
      const stub = `haversack() { case "$3" in ${stubs.join("\n")} esac; }`;
      const script = `${out}\n${stub}\n${typed}; _haversack; echo "\${COMPREPLY[*]}"`;
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim();
    };
    expect(complete("haversack task show T")).toBe(task);
    expect(complete("haversack claim ")).toBe(task);
    expect(complete("haversack next --epic ")).toBe(epic);
    expect(complete("haversack agent show ")).toBe("june");
    expect(complete("haversack skill show kn")).toBe("knots");
    // No run exists, and files are not offered instead.
    expect(complete("haversack runs show ")).toBe("");
  });
});

describe("settings", () => {
  it("name a wrong value with its file in one line, use the default, and go on", () => {
    const project = scratchProject();
    const file = project.write(".haversack/config.json", '{"skills": {"maxSkills": "three"}}');
    const own = '{"work": {"lease_minutes": -1}, "log": {"keep": 5}}';
    const userFile = project.write("../home/.config/haversack/config.json", own);
    const warnings = [
      `haversack: warning: ${userFile}: work.lease_minutes must be a whole number from 1 to 100000, but is -1; 60 is used instead`,
      `haversack: warning: ${file}: skills.max_skills must be a whole number from 1 to 10, but is "three"; 3 is used instead`,
    ].map((line) => line.replace("project/../", ""));
    for (const words of [["session", "list"], ["task", "create", "One"], ["next"], ["status"], ["skill", "list"]]) {
      const { code, err } = project.haversack(words);
      expect({ words, code, err: err.split("\n").filter((line) => line.includes("warning")) }).toEqual({
        words,
        code: 0,
        err: warnings,
      });
    }
    expect(project.haversack(["config", "get", "log.keep"]).out).toBe("5\n");
    const doctor = project.haversack(["doctor", "--json"]).json();
    expect(doctor.findings.filter(({ part }: { part: string }) => part === "config")).toMatchObject([
      { level: "warn", text: expect.stringContaining("work.lease_minutes") },
      { level: "warn", text: expect.stringContaining("skills.max_skills") },
    ]);
    expect(project.haversack(["config", "list"]).code).toBe(1);
  });

  it("work says that git is missing, not that the folder is no repository", () => {
    const project = scratchProject();
    project.haversack(["task", "create", "Mend it"]);
    const { code, err } = project.haversack(["work", "--all", "--dry-run"], { env: { PATH: project.home } });
    expect({ code, err }).toEqual({
      code: 1,
      err: "haversack: error: git cannot be started\nhaversack: hint: install it, or put it on your PATH\n",
    });
  });

  it("stop only a command that would do harm with a wrong value", () => {
    const project = scratchProject();
    const file = project.write(".haversack/config.json", '{"headless": {"max_chains": "two"}}');
    expect(project.haversack(["work", "--all", "--dry-run"])).toMatchObject({
      code: 1,
      err: `haversack: error: ${file}: headless.max_chains must be a whole number from 1 to 10000, but is "two"\nhaversack: hint: correct it first: this command relies on it (\`haversack config\` lists every setting)\n`,
    });
    // Nobody knows how long the user wanted to keep old sessions, so all are kept.
    project.write(".haversack/config.json", '{"store": {"retention_days": "365"}}');
    expect(project.haversack(["task", "create", "One"])).toMatchObject({
      code: 0,
      err: expect.stringContaining("until it is corrected, nothing is removed by age"),
    });
    const { findings } = project.haversack(["doctor", "--json"]).json();
    expect(findings.find(({ part }: { part: string }) => part === "local state").text).toContain("kept forever");
  });

  it("warns of an unknown key and goes on", () => {
    const project = scratchProject();
    const file = project.write(".haversack/config.json", '{"skils": 1}');
    const { code, err } = project.haversack(["session", "list"]);
    expect(code).toBe(0);
    expect(err).toBe(`haversack: warning: ${file}: skils is not a setting, so it is ignored\n`);
  });

  it("says where broken JSON breaks", () => {
    const project = scratchProject();
    project.write(".haversack/config.json", '{\n  "skills": {,}\n}');
    const { code, err } = project.haversack(["session", "list"]);
    expect(code).toBe(0);
    expect(err).toMatch(/^haversack: warning: .*config\.json: .*line 2.*; its settings are ignored\n$/);
    // Hooks do nothing meanwhile.
    expect(project.haversack(["doctor"])).toMatchObject({ code: 1 });
  });

  it("lists every setting with its origin, and one in full", () => {
    const project = scratchProject();
    const file = project.write(".haversack/config.json", '{"log.keep": 7}');
    const { settings } = project.haversack(["config", "--json"]).json();
    expect(settings.find(({ key }: { key: string }) => key === "log.keep")).toMatchObject({
      value: 7,
      default: 3,
      origin: file,
    });
    expect(project.haversack(["config", "log.keep"]).out).toContain(
      "It must be a whole number from 1 to 100. Default: 3.",
    );
  });
});

describe("on and off", () => {
  const event = (root: string, session: string) => ({
    session_id: session,
    cwd: root,
    hook_event_name: "UserPromptSubmit",
    prompt: "hello",
  });
  const seen = (project: ReturnType<typeof scratchProject>) =>
    project
      .haversack(["session", "list", "--json"])
      .json()
      .sessions.map(({ session_id }: { session_id: string }) => session_id);

  it("off silences the hook for the project until on, HAVERSACK=0 for one process", () => {
    const project = scratchProject();
    project.haversack(["skill", "index"]);
    project.hook(event(project.root, "one"));
    expect(project.haversack(["off"]).code).toBe(0);
    project.hook(event(project.root, "two"));
    expect(project.haversack(["on"]).out).toBe("Haversack is on.\n");
    project.hook(event(project.root, "three"), { env: { HAVERSACK: "0" } });
    project.hook(event(project.root, "four"));
    expect(seen(project).sort()).toEqual(["four", "one"]);
  });

  it("off --user silences every project", () => {
    const project = scratchProject();
    project.haversack(["skill", "index"]);
    project.haversack(["off", "--user"]);
    project.hook(event(project.root, "one"));
    expect(seen(project)).toEqual([]);
    expect(project.haversack(["on"]).out).toContain("switched off for you everywhere");
  });
});

describe("the hook", () => {
  it.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["another shape", "[1,2]"],
    ["no session", JSON.stringify({ cwd: "/" })],
  ])("prints nothing and exits 0 on %s", (_, stdin) => {
    const project = scratchProject();
    project.haversack(["skill", "index"]);
    const { code, out, err } = project.hook(stdin);
    expect({ code, out, err }).toEqual({ code: 0, out: "", err: "" });
  });

  it("prints nothing, exits 0 and logs when the store is no database", () => {
    const project = scratchProject();
    // The user's own file, damaged in place.
    expect(project.haversack(["task", "create", "A"]).code).toBe(0);
    for (const end of ["-wal", "-shm"]) rmSync(join(project.root, `.haversack/haversack.db${end}`), { force: true });
    const file = project.write(
      ".haversack/haversack.db",
      "this is a shopping list, and a long one at that\n".repeat(50),
    );
    const before = readFileSync(file);
    const { code, out, err } = project.hook(start(project.root, "s"));
    expect({ code, out, err }).toEqual({ code: 0, out: "", err: "" });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(project.haversack(["log"]).out).toContain("hook");
  });

  it("makes nothing in a project that does not use Haversack", () => {
    const project = scratchProject();
    project.hook(start(project.root, "s"));
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);
  });
});

const start = (root: string, session: string) => ({
  session_id: session,
  cwd: root,
  hook_event_name: "SessionStart",
  source: "startup",
});

describe("the store's commands", () => {
  it("backs up, purges nothing by default, restores and keeps what was there", () => {
    const project = scratchProject();
    project.haversack(["skill", "index"]);
    project.hook(start(project.root, "kept"));
    const copy = join(project.home, "copy.db");
    expect(project.haversack(["store", "backup", copy]).code).toBe(0);
    expect(project.haversack(["store", "backup", copy]).code).toBe(1);
    project.hook(start(project.root, "later"));

    const future = "2999-01-01";
    expect(project.haversack(["store", "purge", "--older-than", future, "--json"]).json()).toMatchObject({
      dry_run: true,
      removed: { sessions: 2 },
    });
    expect(project.haversack(["session", "list", "--json"]).json().sessions).toHaveLength(2);
    project.haversack(["store", "purge", "--older-than", future, "--yes"]);
    expect(project.haversack(["session", "list", "--json"]).json().sessions).toHaveLength(0);

    const { kept } = project.haversack(["store", "restore", copy, "--json"]).json();
    expect(existsSync(kept)).toBe(true);
    expect(project.haversack(["session", "list", "--json"]).json().sessions[0].session_id).toBe("kept");
    expect(project.haversack(["store", "check", "--json"]).json()).toMatchObject({ ok: true, problems: [] });
  });

  it("check names the tables that have rows and counts the others; --json has all", () => {
    const project = scratchProject();
    project.hook(start(project.root, "one"));
    project.haversack(["task", "create", "x"]);
    const { rows } = project.haversack(["store", "check", "--json"]).json().facts as { rows: Record<string, number> };
    const empty = Object.entries(rows).filter(([, count]) => count === 0);
    const { out } = project.haversack(["store", "check"]);
    expect(out).toMatch(/^ {2}tasks +1$/m);
    expect(out).not.toMatch(/^ {2}\w+ +0$/m);
    expect(out).toContain(`and ${empty.length} empty tables (--json lists all)`);
    expect(empty.length).toBeGreaterThan(10);
  });

  it.each([
    ["no database", "just text, a good deal longer than a header of one hundred bytes would be. ".repeat(4)],
    ["a cut-off file", "SQLite format 3\u0000"],
  ])("says in one line and a hint that it does not use %s that nobody here made, exit 1, and leaves it", (_, text) => {
    const project = scratchProject();
    const file = project.write(".haversack/haversack.db", text);
    const { code, err, out } = project.haversack(["session", "list"]);
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err.trimEnd().split("\n")).toHaveLength(2);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("keeps local state out of git and lets the shared parts in", () => {
    const project = scratchProject();
    spawnSync("git", ["init", "-q"], { cwd: project.root });
    project.haversack(["skill", "index"]);
    writeFileSync(join(project.root, ".haversack/config.json"), "{}");
    project.write(".haversack/skills/a/SKILL.md", "x");
    const { stdout } = spawnSync("git", ["status", "--porcelain", "-uall"], { cwd: project.root, encoding: "utf8" });
    expect(stdout.trim().split("\n").sort()).toEqual([
      "?? .haversack/.gitignore",
      "?? .haversack/config.json",
      "?? .haversack/skills/a/SKILL.md",
    ]);
  });
});

describe("the demo", () => {
  it("shows skills, a task, a killed session and its successor in two screens, and leaves nothing running or behind", () => {
    const { root } = scratchProject();
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "../scripts/demo.mjs")], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", TMPDIR: root },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n").length).toBeLessThan(70);
    for (const part of [
      "api-errors",
      "is june's",
      "failing: src/refund.test.ts",
      "kill -9",
      "You are @june",
      "500 EUR",
      "is done",
    ])
      expect(stdout).toContain(part);
    expect(stdout.indexOf("Failing test: ")).toBeGreaterThan(stdout.indexOf("kill -9"));
    expect(readdirSync(root)).toEqual([".git"]);
  });
});

/** Prints what a real zsh offers for the line, one word each: starts it in a pseudo-terminal, types the line and Tab. */
function zshCompletion({ fpath, program }: { fpath: string; program: string }): string {
  const inside = `PROMPT=
fpath=(${fpath} $fpath)
autoload -Uz compinit && compinit -D -u
bindkey '^I' complete-word
between() { print -r -- $'\\0' }
compprefuncs=(between)
comppostfuncs=(between exit)
zstyle ':completion:*' insert-tab false
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a offered
  builtin compadd -A offered "$@"
  (( $#offered )) && print -rl -- $offered
}
haversack() { ${program} "$@" }
print ready`;
  return `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z ${quoted(inside)}
while zpty -r z line; do [[ $line == ready* ]] && break; done
zpty -w -n z "$1"$'\t'
integer between=0
while zpty -r z; do :; done | while IFS= read -r line; do
  if [[ $line == *$'\0\r' ]]; then (( between++ )) && exit 0; continue; fi
  (( between )) && print -r -- \${line%$'\r'}
done
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
