/** Rules for every command: names, JSON keys, messages, exit codes, width. A new command needs a line in SAMPLES. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS, findCommand, namesOf, OLD_NAMES } from "../packages/haversack/src/cli/table.ts";
import { toolsOf } from "../packages/haversack/src/mcp/tools.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

const FEATURE = ["--feature", "docs/features/031-uploads"];

/** Arguments with which each command does something. `T`, `U`, `E` and `S` stand for ids. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ["--dry-run", "--client", "claude-code"],
  uninstall: ["--dry-run"],
  doctor: [],
  on: [],
  off: [],
  trust: [],
  "config list": [],
  "config get": ["skills.max_skills", "log.keep"],
  "config set": ["skills.max_skills", "4"],
  "config unset": ["skills.max_skills"],
  status: [],
  "task create": ["Another one"],
  "task list": ["--tree"],
  "task show": ["T", "U"],
  "task update": ["T", "U", "--priority", "P1"],
  "task next": ["--fields", "full"],
  "task claim": ["T", "--agent", "june"],
  "task heartbeat": ["T", "--agent", "june"],
  "task release": ["T", "--agent", "june"],
  "task review": ["T"],
  "task reopen": ["T"],
  "task block": ["T", "U", "no access"],
  "task unblock": ["T", "U"],
  "task dep": ["T", "--add", "U"],
  "task done": ["U"],
  "task archive": ["U"],
  "task log": [],
  "epic create": ["An epic"],
  "epic list": ["--fields", "full"],
  "epic show": ["E"],
  "epic update": ["E", "--priority", "P1"],
  "story create": ["A story"],
  "story list": ["--fields", "full"],
  "story show": ["S"],
  "story update": ["S", "--epic", "E"],
  wip: ["T", '{"nextStep":"mine"}'],
  "handoff set": ["T", "--status", "PASS", "--summary", "It works"],
  "handoff show": ["T", "--details"],
  "handoff list": ["--fields", "full"],
  "handoff decay": [],
  "handoff restore": ["T"],
  import: ["plan.md"],
  export: ["work.jsonl"],
  "runs list": [],
  "runs drain": [],
  metrics: [],
  top: ["--once"],
  "agent add": ["ann", "--role", "implementer"],
  "agent list": [],
  "agent show": ["june", "ann"],
  "agent rm": ["ann"],
  "agent wake": ["june"],
  "agent prompt": ["june", "hello", "--print"],
  "agent message": ["@june", "hello"],
  "agent inbox": ["june"],
  "workflow list": [],
  "workflow add": ["development", "--dry-run"],
  "review dispatch": ["spec-reviewer", ...FEATURE],
  "review record": ["spec-reviewer", ...FEATURE, "--iteration", "1"],
  "review show": FEATURE,
  "review decide": ["spec-reviewer", "R1", "It stays", ...FEATURE],
  "review receipts": [],
  "artifacts refs": ["spec-reviewer", ...FEATURE],
  "artifacts section": ["plan.md", "Plan"],
  "artifacts check": [],
  "artifacts init": [],
  "skill list": [],
  "skill show": ["knots"],
  "skill search": ["knots"],
  "skill why": [],
  "skill check": [],
  "skill stats": [],
  "skill defer": ["knots"],
  "skill undefer": ["knots"],
  "skill new": ["pdf-forms"],
  "skill eval": ["--skills", ".claude/skills", "--cases", "cases.jsonl"],
  "skill learned": [],
  "skill index": [],
  "rules check": [".claude/skills/skill-rules.json"],
  "session list": [],
  "session reset": ["s1"],
  "store use": ["local"],
  "store migrate": ["local"],
  "store status": [],
  "store member": ["list"],
  "store conflicts": [],
  "store check": [],
  "store backup": ["copy.db"],
  "store restore": ["copy.db"],
  "store purge": ["--older-than", "90d"],
  recall: [],
  usage: ["--session", "s1"],
  audit: ["session.jsonl"],
  replay: ["events.jsonl"],
  log: [],
  discover: ["tie", "knots", "--session", "s1"],
  context: ["--session", "s1"],
  completion: ["bash"],
};

/** The servers run until they are ended (test/mcp.test.ts, test/board); the others need a client or a run (test/runs). */
const ELSEWHERE = ["mcp", "board", "work", "runs show", "runs follow", "runs stop"];
const NAMES = COMMANDS.flatMap(namesOf).filter((name) => !ELSEWHERE.includes(name));

let project: Scratch;
let remove: () => void;
let ids: Record<string, string>;

beforeAll(async () => {
  project = scratchProject((how) => {
    remove = how;
  });
  mkdirSync(join(project.root, ".git"), { recursive: true });
  project.write(".claude/skills/knots/SKILL.md", "---\nname: knots\ndescription: Ties knots in ropes.\n---\n\nBody.\n");
  project.write(".claude/skills/skill-rules.json", '{"skills": {"knots": {"keywords": ["ropes"]}}}');
  const said = { parentUuid: null, type: "user", message: { role: "user", content: "Hello." }, sessionId: "s1" };
  project.write("session.jsonl", `${JSON.stringify(said)}\n`);
  project.write("events.jsonl", '{"session_id": "s9", "hook_event_name": "UserPromptSubmit", "prompt": "Hello."}\n');
  project.write("plan.md", "# Plan\n\n### Task 1: Sensor\n- [ ] Build\n");
  project.write("cases.jsonl", '{"prompt": "tie knots in ropes", "expected": ["knots"]}\n');
  project.write("docs/features/031-uploads/spec.md", "# Spec\n\nUploads.\n");
  const create = async (...words: string[]) => (await run(project, [...words, "--json"])).json().id as string;
  ids = {
    T: await create("task", "create", "First"),
    U: await create("task", "create", "Second"),
    E: await create("epic", "create", "Epic"),
    S: await create("story", "create", "Story"),
  };
  await run(project, ["agent", "add", "june", "--role", "implementer"]);
  project.hook({
    session_id: "s1",
    cwd: project.root,
    hook_event_name: "UserPromptSubmit",
    prompt: "tie knots in ropes",
  });
}, 60_000);

afterAll(() => remove());

const wordsOf = (name: string) => [...name.split(" "), ...(SAMPLES[name] ?? []).map((word) => ids[word] ?? word)];
const ANSWER = "Files read: spec.md\n\nVerdict: approved\n";

it("every command has a sample, and no sample is of a command that is gone", () => {
  expect(Object.keys(SAMPLES).sort()).toEqual([...NAMES].sort());
});

describe("--json", () => {
  it.each(Object.keys(SAMPLES))("%s prints one document with keys in snake_case", async (name) => {
    const { code, out, err } = await run(project, [...wordsOf(name), "--json"], { stdin: ANSWER });
    // Output is empty only if something was refused or is missing.
    if (out === "") {
      expect(code).not.toBe(0);
      expect(err).toMatch(/^haversack: error: /);
    } else expect(wrongKeys(JSON.parse(out), name)).toEqual([]);
    expect(err).toMatch(/^(?:haversack: (?:error|hint|note|warning): .*\n)*$/);
    expect(code).toBeLessThan(2);
  });
});

it("input of MCP tools is in snake_case, but for what the first client fixes", () => {
  const keys = toolsOf("all").flatMap(({ name, inputSchema }) =>
    Object.keys((inputSchema as { properties?: object }).properties ?? {}).map((key) => `${name}.${key}`),
  );
  expect(keys.filter((key) => /[A-Z]/.test(key))).toEqual(["skill.includeResources"]);
});

describe("exit codes", () => {
  it("are the same for the same cause", async () => {
    const code = async (...words: string[]) => (await run(project, words)).code;
    // A file with an error in it.
    project.write("broken.json", "{,}");
    expect(await code("rules", "check", "broken.json")).toBe(1);
    // The named thing does not exist.
    for (const words of [
      ["task", "show", "T99999"],
      ["artifacts", "section", "none.md", "A"],
      ["skill", "show", "none"],
      ["import", "none.md"],
    ])
      expect([words, await code(...words)]).toEqual([words, 1]);
    // Existing files are not overwritten.
    await run(project, ["store", "backup", "twice.db"]);
    for (const words of [
      ["store", "backup", "twice.db"],
      ["skill", "new", "knots"],
    ])
      expect([words, await code(...words)]).toEqual([words, 1]);
    // Wrong input.
    for (const words of [
      ["task", "create", " "],
      ["config", "set", "log.keep", "many"],
      ["handoff", "set", ids["T"] ?? ""],
    ])
      expect([words, await code(...words)]).toEqual([words, 2]);
  });

  it("a broken settings file stops only the commands that are about settings or about problems", async () => {
    const other = scratchProject();
    other.write(".haversack/config.json", "{,}");
    other.write(".claude/settings.local.json", "{}");
    for (const [code, words] of [
      [0, ["session", "list"]],
      [0, ["init", "--yes"]],
      [1, ["config", "list"]],
      [1, ["config", "set", "log.keep", "4"]],
      [1, ["doctor"]],
    ] as const)
      expect([words, (await run(other, [...words])).code]).toEqual([words, code]);
  });
});

describe("settings", () => {
  it("in the old spelling are read, and written in the new one when they are changed", async () => {
    const other = scratchProject();
    const file = other.write(".haversack/config.json", '{"skills": {"maxSkills": 2}, "log.maxBytes": 20000}\n');
    expect((await run(other, ["config", "get", "skills.max_skills", "log.maxBytes"])).out).toBe("2\n20000\n");
    const { err } = await run(other, ["config", "set", "skills.maxSkills", "4"]);
    expect(err).toBe("");
    expect(readFileSync(file, "utf8")).toBe('{"skills": {"max_skills": 4}, "log.maxBytes": 20000}\n');
    await run(other, ["config", "unset", "log.max_bytes"]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ skills: { max_skills: 4 } });
  });
});

describe("names", () => {
  it("of commands and options are lower case, and --agent is always an agent's name", async () => {
    for (const entry of COMMANDS) {
      for (const name of namesOf(entry)) {
        expect(name).toMatch(/^[a-z]+(?: [a-z]+)?$/);
        const { spec } = await entry.load(name);
        for (const [option, { value }] of Object.entries(spec.options ?? {})) {
          expect(option).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
          if (option === "agent") expect([name, value]).toEqual([name, "NAME"]);
          if (option === "sub-agent") expect([name, value]).toEqual([name, "ID"]);
        }
      }
    }
  });

  it("of commands are in one family each, and the five short ones stand for what they say", () => {
    const shorts = COMMANDS.flatMap(({ short }) => (short ? [short] : []));
    expect(shorts).toEqual(["next", "claim", "done", "wake", "why"]);
    for (const short of shorts) expect(findCommand(short)?.name).toMatch(new RegExp(`^\\w+ ${short}$`));
    // Families whose members differ by one word count once.
    expect(COMMANDS.length).toBeLessThanOrEqual(70);
  });

  it.each(["context", "discover", "skill show"])("%s still takes a sub-agent's id as --agent", async (name) => {
    const { err } = await run(project, [...wordsOf(name), "--agent", "a1"]);
    expect(err).not.toContain("unknown option");
  });
});

describe("old names", () => {
  it.each(Object.keys(OLD_NAMES))("%s works and says on one line what to type now, not with --json", async (old) => {
    const { now } = OLD_NAMES[old]!;
    const help = await run(project, [...old.split(" "), "--help"]);
    expect(help.err).toBe(`haversack: note: \`haversack ${old}\` is now \`haversack ${now}\`\n`);
    expect(help.code).toBe(0);
    const [family = "", verb = ""] = now.split(" ");
    expect(help.out).toContain(`Usage: haversack ${findCommand(`${family} ${verb}`) ? `${family} ${verb}` : family}`);
    expect((await run(project, [...old.split(" "), "--help", "--json"])).err).toBe("");
  });

  it("take their old arguments", async () => {
    const { T = "", U = "" } = ids;
    const says = async (...words: string[]) => (await run(project, words)).out;
    expect(await says("dep", "rm", T, U)).toBe(`${T} no longer depends on ${U}.\n`);
    expect(await says("dep", "add", "--agent", "ann", T, "--type", "relates_to", U)).toBe(`${T} relates to ${U}.\n`);
    expect(await says("dep", "list", T)).toContain(`${T} is related to`);
    await says("wip", "set", T, '{"phase":"old words"}');
    expect(await says("wip", "show", T)).toContain("old words");
    expect(await says("import", "plan", "plan.md", "--dry-run")).toContain("1 unchanged");
    expect(await says("tree")).toBe(await says("task", "list", "--tree"));
    expect(await says("skills", "list")).toBe(await says("skill", "list"));
  });
});

describe("wrong usage", () => {
  it.each(NAMES)("%s with an unknown option: an error, a hint, exit 2", async (name) => {
    const { code, err, out } = await run(project, [...name.split(" "), "--no-such-option"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^haversack: error: .*--no-such-option.*\nhaversack: hint: usage: haversack .*\n$/);
  });

  it.each(NAMES)("%s: each option refuses a missing value, or one that it does not take", async (name) => {
    const { spec } = await findCommand(name)!.entry.load(name);
    for (const [option, { type }] of Object.entries(spec.options ?? {})) {
      const word = type === "boolean" ? `--${option}=1` : `--${option}`;
      const { code, err, out } = await run(project, [...name.split(" "), word]);
      expect({ word, code, out }).toEqual({ word, code: 2, out: "" });
      expect(err).toMatch(/^haversack: error: .*\nhaversack: hint: usage: haversack .*\n$/);
    }
  });
});

describe("refusals", () => {
  const CALLS = [
    "task show T99999",
    "task release T",
    "task create  ",
    "task dep T --add T",
    "task dep U --rm T",
    "task heartbeat T",
    "story show T",
    "wip T []",
    "handoff set T",
    "handoff show U",
    "import none.md",
    "import .",
    "export none/work.jsonl",
    "agent add ann",
    "agent show nobody",
    "agent message nobody",
    "skill show none",
    "skill check none",
    "skill new Bad_Name",
    "skill new knots",
    "skill eval --skills none --cases none",
    "skill defer",
    "skill why --session none",
    "context --session none",
    "session reset none",
    "rules check none.json",
    "store restore none.db",
    "store backup .haversack/haversack.db",
    "store backup none/copy.db",
    "store purge",
    "store purge --older-than soon",
    "recall K1",
    "usage --session none",
    "audit none.jsonl",
    "replay none.jsonl",
    "completion tcsh",
    "config get none",
    "config set log.keep many",
    "review dispatch none --feature docs/features/031-uploads",
    "review dispatch spec-reviewer",
    "review show --feature none",
    "artifacts section none.md A",
    "artifacts section plan.md None",
    "work",
    "work --all --parallel many",
    "runs show R9",
    "metrics --since soon",
    "init --bare --user",
    "trust --only none",
    "workflow add none",
    "task",
    "task none",
    "none",
  ];
  it.each(CALLS)("%s: nothing on standard output, one error and one hint", async (call) => {
    const words = call.split(" ").map((word) => ids[word] ?? word);
    const { code, out, err } = await run(project, words);
    expect(out).toBe("");
    expect(code).toBeGreaterThan(0);
    expect(code).toBeLessThan(3);
    expect(err).toMatch(
      /^(?:haversack: warning: .*\n)*haversack: error: .*\nhaversack: hint: .*\n(?:\nUsage: haversack task COMMAND.*)?$/s,
    );
  });
});

describe("without a command", () => {
  it("--json prints the status, and of help a list of commands", async () => {
    const json = async (...words: string[]) => (await run(project, [...words, "--json"])).json();
    expect(await json()).toEqual(await json("status"));
    expect(await json("help")).toHaveLength(COMMANDS.flatMap(namesOf).length);
    const epic = (verb: string, summary: string) => ({ name: `epic ${verb}`, summary, group: "Work" });
    expect(await json("help", "epic")).toContainEqual(epic("list", "Create, change, list or show epics and stories"));
    expect(await json("help", "epic")).toHaveLength(4);
  });

  it("a topic that help does not have is refused", async () => {
    for (const topic of ["none", "--none", "task none"]) {
      const { code, err } = await run(project, ["help", ...topic.split(" ")]);
      expect([topic, code]).toEqual([topic, 2]);
      expect(err).toMatch(/^haversack: error: unknown (?:command|option) ".*"\nhaversack: hint: .*\n$/);
    }
  });
});

describe("at a terminal", () => {
  it.each(NAMES)("%s keeps its help within 40 and 60 columns", async (name) => {
    for (const width of [40, 60]) {
      const { out } = await run(project, [...name.split(" "), "--help"], { isTerminal: true, width });
      // A word longer than the line cannot be broken.
      const long = out.split("\n").filter((line) => line.length > width && / {2,}\S+ \S/.test(line));
      expect(long).toEqual([]);
    }
  });

  it("tables leave out their dim columns before they cut the title to a few letters", async () => {
    const { id } = (await run(project, ["task", "create", "Measure how long uploads take", "--json"])).json();
    const row = async (width: number) => {
      const { out } = await run(project, ["task", "list"], { isTerminal: true, width });
      return out.split("\n").find((line) => line.startsWith(id));
    };
    expect(await row(40)).toMatch(/^T\d+ +todo +P2 +Measure how long/);
    expect(await row(80)).toContain("feature");
  });

  it("lists, errors and status stay within the width", async () => {
    const title =
      "Write down what the measuring of the uploads has shown, with all of its numbers and all of its causes";
    const { id } = (await run(project, ["task", "create", title, "--description", title, "--json"])).json();
    await run(project, ["handoff", "set", id, "--status", "FAIL", "--summary", title]);
    await run(project, ["agent", "message", "@june", title]);
    for (const words of [
      ["status"],
      ["task", "list"],
      ["task", "show", id],
      ["skill", "list"],
      ["config", "list"],
      ["doctor"],
      ["handoff", "show", id],
      ["agent", "inbox", "june"],
    ]) {
      const { out } = await run(project, words, { isTerminal: true, width: 72 });
      const long = out
        .split("\n")
        .filter((line) => line.length > 72 && line.split(/ +/).every(({ length }) => length < 30));
      expect([words, long]).toEqual([words, []]);
    }
  });
});

/** Names given by the user or a format: below them any key is allowed. */
const FREE = ["wip", "before", "after", "value", "default", "data", "sources", "skillTracking"];

function wrongKeys(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => wrongKeys(one, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (FREE.includes(key)) return [];
    return [
      ...(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(key) ? [] : [`${path}.${key}`]),
      ...wrongKeys(inner, `${path}.${key}`),
    ];
  });
}
