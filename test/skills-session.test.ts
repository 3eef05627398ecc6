/** A session of prompts through the built program: formats, time-outs, resets, and eight processes at once. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { skillText } from "../packages/haversack/src/engine/fake-project.suite.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteLocalStore } from "../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { DIST, type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

function pool() {
  const project = scratchProject();
  for (const name of ["keeper", "waiter", "driver"])
    project.write(`.claude/skills/${name}/SKILL.md`, skillText(name, "Qwertz."));
  project.write(
    ".claude/skill-rules.json",
    JSON.stringify({
      skills: {
        keeper: { domain: "zoo", promptTriggers: { keywords: ["zebra"] } },
        waiter: { domain: "table", promptTriggers: { keywords: ["soup"] } },
        driver: { domain: "road", promptTriggers: { keywords: ["truck"] } },
      },
    }),
  );
  return project;
}

const prompt = async (project: Scratch, stdin: string, ...words: string[]) => {
  const { code, out, err } = await run(project, ["discover", "--session", "s1", ...words], { stdin });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return /^# (Skill Recommendations|New Skills Available|Skills Available)/.exec(out)?.[1] ?? out;
};
const FULL = "Skill Recommendations";
const NAMES = "Skills Available";
const NEW = "New Skills Available";
const context = async (project: Scratch, ...words: string[]) =>
  (await run(project, ["context", "--json", ...words])).json().skillTracking;

describe("a session", () => {
  it("goes through full, silence, incremental, switches, names on request and full by force", async () => {
    const project = pool();
    expect(await prompt(project, "a zebra")).toBe(FULL);
    expect(await prompt(project, "a zebra")).toBe("");
    expect(await prompt(project, "continue")).toBe("");
    expect(await prompt(project, "a zebra and soup")).toBe(NEW);
    expect(await prompt(project, "a truck")).toBe(FULL);
    expect(await prompt(project, "which skills care for a zebra?")).toBe(NAMES);
    expect(await prompt(project, "a zebra", "--force")).toBe(FULL);
    const tracking = await context(project, "--session", "s1");
    expect(Object.keys(tracking)).toEqual(
      "recommended used sessionStart sessionId lastPromptTime promptCount domainHistory".split(" "),
    );
    expect(tracking).toMatchObject({
      sessionId: "s1",
      promptCount: 7,
      used: [],
      domainHistory: ["zoo", "road", "zoo"],
    });
    expect([...tracking.recommended].sort()).toEqual(["driver", "keeper", "waiter"]);
    expect(await context(project)).toEqual(tracking);
  });

  it("starts anew after the idle time and after a reset", async () => {
    const project = pool();
    await prompt(project, "a zebra");
    const db = new DatabaseSync(join(project.root, ".haversack/haversack.db"));
    const age = (minutes: number) =>
      db.prepare("UPDATE sessions SET last_prompt_at = ?").run(new Date(Date.now() - minutes * 60_000).toISOString());
    age(29);
    expect(await prompt(project, "a zebra")).toBe("");
    age(31);
    expect(await prompt(project, "a zebra")).toBe(FULL);
    expect((await context(project)).promptCount).toBe(1);
    db.close();
    expect((await run(project, ["session", "reset", "s1"])).out).toBe("Session s1 starts over.\n");
    expect(await prompt(project, "a zebra")).toBe(FULL);
    expect(await run(project, ["session", "reset", "nobody"])).toMatchObject({ code: 1, out: "" });
  });

  it("forgets after the configured number of prompts", async () => {
    const project = pool();
    await run(project, ["config", "set", "skills.forget_after_prompts", "2"]);
    const seen: string[] = [];
    for (const text of ["a zebra", "continue", "a zebra", "a zebra"]) seen.push(await prompt(project, text));
    expect(seen).toEqual([FULL, "", "", FULL]);
  });

  it("has an empty ledger after a compaction, also for loaded skills", async () => {
    const project = pool();
    await prompt(project, "a zebra");
    await run(project, ["skill", "show", "waiter", "--session", "s1"]);
    expect(await context(project)).toMatchObject({ used: ["waiter"] });
    expect(await prompt(project, "soup")).toBe("");
    const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "normal" });
    new SqliteLocalStore(handle).touchSession({
      sessionId: "s1",
      client: "plain",
      cwd: project.root,
      at: new Date(),
      event: "window",
    });
    handle.db.close();
    expect(await context(project)).toMatchObject({ recommended: [], used: [] });
    expect(await prompt(project, "a zebra and soup")).toBe(FULL);
  });

  it("shares nothing with another session or another agent", async () => {
    const project = pool();
    await prompt(project, "a zebra");
    expect(await prompt(project, "a zebra", "--session", "s2")).toBe(FULL);
    expect(await prompt(project, "a zebra", "--agent", "a1")).toBe(FULL);
    expect(await prompt(project, "a zebra")).toBe("");
    expect((await context(project, "--session", "s1", "--agent", "a1")).promptCount).toBe(1);
    expect(await run(project, ["context", "--session", "nobody"])).toMatchObject({ code: 1, out: "" });
  });

  it("explains itself, with secrets masked", async () => {
    const project = pool();
    const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    await prompt(project, `a zebra with password=hunter2secret and ${key}`);
    const { out } = await run(project, ["why"]);
    expect(out).toContain("session s1, prompt 1");
    expect(out).toContain("keeper: shown (full)");
    expect(out).toContain('keyword "zebra"');
    expect(out).not.toMatch(/hunter2secret|ghp_abc/);
    expect(readFileSync(join(project.root, ".haversack/haversack.db"), "latin1")).not.toContain("hunter2secret");
    expect((await run(project, ["why", "--session", "nobody"])).err).toContain(
      'haversack: error: no session "nobody" was seen here\n',
    );
  });
});

describe("a client's payload", () => {
  const payload = (more: object) =>
    JSON.stringify({
      session_id: "p1",
      cwd: "/home/zebra/soup",
      hook_event_name: "UserPromptSubmit",
      prompt: "hello",
      ...more,
    });
  const send = async (project: Scratch, stdin: string) => await run(project, ["discover"], { stdin });

  it("is never itself the prompt", async () => {
    const project = pool();
    expect((await send(project, payload({ transcript_path: "/zebra/truck.jsonl" }))).out).toBe("");
    expect((await send(project, payload({}).slice(0, -3))).out).toBe("");
    expect(
      (
        await send(
          project,
          payload({ hook_event_name: "PreToolUse", prompt: undefined, tool_input: { command: "zebra" } }),
        )
      ).out,
    ).toBe("");
    expect((await send(project, payload({ prompt: "a zebra" }))).out).toContain('Skill(skill: "keeper")');
    expect((await send(project, payload({ prompt: "a zebra", turn_id: "t", session_id: "p2" }))).out).toContain(
      `Read ${project.root}/.claude/skills/keeper/SKILL.md`,
    );
    expect((await context(project, "--session", "p1")).promptCount).toBe(2);
    expect((await context(project, "--session", "p2")).promptCount).toBe(1);
  });
});

const corpus = process.env["HAVERSACK_CORPUS"];
describe.skipIf(!corpus)("the payloads of the corpus", () => {
  const folder = join(corpus ?? "", "payloads");
  const lines =
    corpus && existsSync(folder)
      ? readdirSync(folder)
          .filter((file) => file.endsWith(".jsonl"))
          .flatMap((file) => readFileSync(join(folder, file), "utf8").trim().split("\n"))
      : [];

  it("are read without a word on stderr, and only prompts count", { timeout: 120_000 }, async () => {
    expect(lines.length).toBeGreaterThan(50);
    const project = pool();
    for (const word of ["repo", "session", "transcript", "hook", "user"])
      project.write(
        `.claude/skills/${word}-x/SKILL.md`,
        skillText(`${word}-x`, "Qwertz.", { more: `triggers:\n  keywords: [${word}]\n` }),
      );
    const isPrompt = (event: string) => /^(?:UserPromptSubmit|BeforeAgent|chat\.message):/.test(event);
    // Every kind of event once, because each costs a process.
    for (const line of lines) {
      const { event, stdin } = JSON.parse(line) as { event: string; stdin: object };
      const { code, out, err } = await run(project, ["discover"], {
        stdin: isPrompt(event) ? line : JSON.stringify({ event, stdin }),
      });
      expect({ event, code, out, err }).toEqual({ event, code: 0, out: "", err: "" });
    }
    const counts = (await run(project, ["session", "list", "--limit", "100", "--json"]))
      .json()
      .sessions.map(({ promptCount }: { promptCount: number }) => promptCount);
    expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(
      lines.filter((line) => isPrompt(JSON.parse(line).event)).length,
    );
  });
});

describe("eight processes at once", () => {
  it("fill a new store without an error, and every prompt is counted", async () => {
    const project = pool();
    const start = (session: string) =>
      new Promise<{ code: number | null; err: string }>((done) => {
        const child = spawn(process.execPath, [join(DIST, "haversack.cjs"), "discover", "--session", session], {
          cwd: project.root,
          env: { PATH: process.env["PATH"] ?? "", HOME: project.home },
        });
        let err = "";
        child.stderr.on("data", (chunk) => (err += chunk));
        child.on("close", (code) => done({ code, err }));
        child.stdin.end("a zebra and soup");
      });
    for (let round = 1; round <= 2; round++) {
      const results = await Promise.all(Array.from({ length: 8 }, (_, n) => start(n % 2 ? "shared" : `own-${n}`)));
      expect(results).toEqual(Array.from({ length: 8 }, () => ({ code: 0, err: "" })));
      expect(await context(project, "--session", "shared")).toMatchObject({ recommended: ["keeper", "waiter"] });
    }
    const { sessions } = (await run(project, ["session", "list", "--json"])).json();
    const counts = Object.fromEntries(
      sessions.map(({ session_id, prompt_count }: { session_id: string; prompt_count: number }) => [
        session_id,
        prompt_count,
      ]),
    );
    expect(counts).toEqual({ shared: 8, "own-0": 2, "own-2": 2, "own-4": 2, "own-6": 2 });
    expect((await run(project, ["why", "--session", "shared", "--limit", "20", "--json"])).json().prompts).toHaveLength(
      8,
    );
    expect((await run(project, ["store", "check", "--json"])).json()).toMatchObject({ ok: true });
    expect((await run(project, ["skill", "list", "--json"])).json().skills).toHaveLength(3);
  });
});
