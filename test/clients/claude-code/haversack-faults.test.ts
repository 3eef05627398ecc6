/** Whatever fault Haversack has, the session goes on as it would without hooks, and `doctor` names the fault. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished, vi } from "vitest";
import { textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import {
  BIN,
  editSettings,
  FITTING,
  haversack,
  haversackRepo,
  NAMING,
  ORDINARY,
  ours,
  skillRepo,
} from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

interface Fault {
  name: string;
  make(repo: ScratchRepo): void | Promise<void>;
  /** In what `haversack doctor` prints. */
  doctor: RegExp;
  /** Nothing of ours can run: the session is the same as without any of our entries, including the MCP server. */
  isSilent?: true;
  /** The session still gets an answer, from what can be read and from the spool: the text that it gets. */
  says?: string;
}

const FAULTS: Fault[] = [
  {
    name: "the store is corrupt",
    make: (repo) => {
      // The first page stays: it is still a database, with broken content.
      const bytes = readFileSync(storeOf(repo));
      bytes.fill(0x5a, 4096);
      writeFileSync(storeOf(repo), bytes);
    },
    doctor: /store: .*(damaged|malformed|corrupt)/i,
  },
  {
    name: "the store is no database",
    make: (repo) => writeFileSync(storeOf(repo), "x".repeat(5000)),
    doctor: /store: .*not a database/i,
  },
  {
    name: "the store is locked for writing",
    make: (repo) => lockStore(repo, "NORMAL"),
    doctor: /lock/i,
    says: "release-notes",
  },
  {
    name: "the store is locked altogether",
    make: (repo) => lockStore(repo, "EXCLUSIVE"),
    doctor: /lock/i,
    says: "Not committed: notes.txt",
  },
  {
    name: "the config is broken",
    make: (repo) => void repo.write(".haversack/config.json", '{ "skills": '),
    doctor: /config: .*JSON/i,
  },
  {
    name: "the runtime is gone",
    make: (repo) => useRuntime(repo, "/nowhere/node"),
    doctor: /\/nowhere\/node/,
    isSilent: true,
  },
  {
    name: "the runtime is too old",
    make: (repo) => useRuntime(repo, oldRuntime(repo)),
    doctor: /too old|needs Node/i,
    isSilent: true,
  },
];

it.each(FAULTS)("$name", async ({ make, doctor, isSilent, says }) => {
  const repo = haversackRepo();
  await make(repo);
  const bare = isSilent ? withoutEntries(repo) : await withoutHooks(make);
  const [with_, without] = await Promise.all([session(repo), session(bare)]);
  const told = with_.requests.flatMap(ours).map(({ text }) => text);
  if (says) expect(told.join("\n")).toContain(says);
  else {
    expect(told).toEqual([]);
    expect(with_.texts).toEqual(without.texts);
  }
  expect(with_.run).toMatchObject({ exitCode: 0, stderr: "", results: without.run.results });
  const answers = with_.run.events.filter(({ subtype }) => subtype === "hook_response");
  for (const answer of answers) {
    expect(answer).toMatchObject({ stderr: "", exit_code: 0, ...(!says && { stdout: "" }) });
  }

  const { stdout } = spawnSync(process.execPath, [BIN, "doctor"], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
    timeout: 60_000,
  });
  const findings = stdout.split("\n").filter((line) => line && !line.startsWith("ok "));
  expect(findings.join("\n")).toMatch(doctor);
});

it.each<[what: string, make: (repo: ScratchRepo) => void]>([
  // No tables: older than the first version.
  ["a store of an older version is brought up to date", (repo) => writeFileSync(storeOf(repo), "")],
  ["a deleted store is made again", (repo) => rmSync(storeOf(repo))],
])("%s for the next session", async (_, make) => {
  const repo = haversackRepo();
  make(repo);
  const server = await testServer();
  await runClaude({ repo, server, prompt: ORDINARY });
  expect(server.requests.flatMap(ours)).toEqual([]);
  await vi.waitFor(() => expect(indexedAt(repo)).toBeDefined(), 10_000);
  await runClaude({ repo, server, prompt: FITTING });
  expect(ours(server.of("main").at(-1))[0]?.text).toContain("release-notes");
});

/** The same session without our hooks. Both have the MCP server, so only the hooks can make a difference. */
async function withoutHooks(make: Fault["make"]): Promise<ScratchRepo> {
  const bare = haversackRepo();
  editSettings(bare, (text) => JSON.stringify({ ...JSON.parse(text), hooks: {} }));
  await make(bare);
  return bare;
}

/** The state folder is there, because git shows it, and the files of `/work`, which need no runtime; no settings, no MCP server. */
function withoutEntries(wired: ScratchRepo): ScratchRepo {
  const bare = skillRepo();
  for (const folder of ["agents", "commands"]) {
    cpSync(join(wired.root, ".claude", folder), join(bare.root, ".claude", folder), { recursive: true });
  }
  haversack(bare, "skill", "index");
  return bare;
}

/** Prompts that would get a text, a tool call that would be recorded, and a compaction. */
async function session(repo: ScratchRepo) {
  const file_path = `${repo.root}/notes.txt`;
  const server = await testServer(
    steps([{ tools: [toolCall("Write", { file_path, content: "a note" })] }, { text: "one" }]),
  );
  const run = await runClaude({ repo, server, prompt: [FITTING, NAMING, "/compact", ORDINARY] });
  const plain = (text: string) =>
    text
      // The client's own list after a compaction names the tool that hooks have called.
      .replace(/(<tools-used-before-summary>.*), mcp__haversack__hook/, "$1")
      .replaceAll(repo.base, "BASE")
      .replaceAll(repo.base.replaceAll("/", "-"), "-BASE")
      .replaceAll(run.sessionId, "SESSION");
  return { run, requests: server.requests, texts: server.requests.map((request) => plain(textOf(request))) };
}

/** The mark that an index is complete. */
function indexedAt(repo: ScratchRepo): unknown {
  const db = new DatabaseSync(storeOf(repo), { readOnly: true });
  try {
    return db.prepare("SELECT value FROM meta WHERE key = 'skill-roots'").get();
  } finally {
    db.close();
  }
}

function storeOf(repo: ScratchRepo): string {
  return join(repo.root, ".haversack/haversack.db");
}

/** Another process holds the store until the test is over. */
async function lockStore(repo: ScratchRepo, mode: "NORMAL" | "EXCLUSIVE"): Promise<void> {
  const program = `
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(process.argv[1]);
    db.exec("PRAGMA locking_mode = ${mode}; BEGIN EXCLUSIVE; CREATE TABLE held (x)");
    console.log("held");
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["-e", program, storeOf(repo)], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`the process that should hold the store ended with ${code}`)));
  });
}

/** Everything that `init` wrote names this runtime. */
function useRuntime(repo: ScratchRepo, runtime: string): void {
  for (const file of [join(repo.root, ".claude/settings.local.json"), join(repo.configDir, ".claude.json")]) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(process.execPath, runtime));
  }
}

/** An older Node if there is one, otherwise this one, pretending to be older. */
function oldRuntime(repo: ScratchRepo): string {
  const { stdout } = spawnSync("/usr/bin/node", ["--version"], { encoding: "utf8" });
  if (/^v(1\d|20)\./.test(stdout ?? "")) return "/usr/bin/node";
  const file = join(repo.base, "old-node");
  const version = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.0.0"}})`;
  writeFileSync(join(repo.base, "old.cjs"), version);
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' --require '${repo.base}/old.cjs' "$@"\n`, { mode: 0o755 });
  return file;
}
