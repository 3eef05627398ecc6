/** A project that an earlier build set up works with this one: its store, wiring, settings, deferred skills and trust record. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { DIST, type Scratch, scratchProject } from "./bins.ts";

const FIXTURE = join(import.meta.dirname, "fixtures/upgrade");
const { files, plugin }: { files: Record<string, string>; plugin: Record<string, string> } = JSON.parse(
  readFileSync(join(FIXTURE, "project.json"), "utf8"),
);
const PROMPT = "the refund endpoint must report proper error status codes";

const isFirst = ({ title }: { title: string }) => title === "Report errors";

/** The project before the upgrade. The package is replaced in place, so the wiring finds this build. */
function upgradedProject(): Scratch {
  const project = scratchProject();
  const base = dirname(project.root);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main"], { cwd: project.root });
  for (const [path, text] of Object.entries(files)) {
    if (path.includes("/state/haversack/projects/")) continue;
    const file = join(base, path);
    mkdirSync(dirname(file), { recursive: true });
    const own = text.replaceAll("@BASE@", base).replaceAll("@DIST@", DIST).replaceAll("@NODE@", process.execPath);
    writeFileSync(file, restamped(own));
  }
  const state = join(project.root, ".haversack");
  const store = join(state, "haversack.db");
  writeFileSync(store, gunzipSync(readFileSync(join(FIXTURE, "haversack.db.gz"))), { mode: 0o600 });
  rebase(store, base);
  execFileSync("chmod", ["-R", "go-rwx", state]);

  // The record identifies the file by inode and birth time, which no fixture can preserve.
  const [, record = ""] = Object.entries(files).find(([path]) => path.includes("/state/haversack/projects/")) ?? [];
  const { ino, birthtimeNs, uid } = statSync(store, { bigint: true });
  const folder = join(project.home, ".local/state/haversack/projects");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = { ...JSON.parse(record), folder: state, store: `${ino}:${birthtimeNs}:${uid}` };
  writeFileSync(join(folder, `project-${fnv(state)}.json`), JSON.stringify(own), { mode: 0o600 });
  return project;
}

describe("a project of an earlier build", () => {
  it("is trusted, and has its work, agents, messages and settings", () => {
    const project = upgradedProject();
    const { code, out: tree } = project.haversack(["task", "list", "--tree"]);
    expect(code).toBe(0);
    for (const title of ["Report errors", "Limit the amount", "Write the changelog"]) expect(tree).toContain(title);

    const { id } = project.haversack(["task", "list", "--json"]).json().find(isFirst);
    const wip = project.haversack(["wip", id]).out;
    for (const fact of ["src/refund.ts", "Use problem details", "Cover the second refund"]) expect(wip).toContain(fact);
    expect(project.haversack(["handoff", "show", id]).out).toContain("The test for two refunds fails.");
    expect(project.haversack(["agent", "inbox", "june"]).out).toContain("A refund is at most 500 EUR.");
    expect(project.haversack(["store", "check"]).code).toBe(0);

    // The setting still has its old name.
    const before = Date.now();
    const claimed = project.haversack(["claim", id, "--steal", "the session is gone", "--json"]).json();
    const minutes = (Date.parse(claimed.lease_until ?? claimed.claim.lease_until) - before) / 60_000;
    expect(minutes).toBeGreaterThan(6);
    expect(minutes).toBeLessThan(9);
  });

  it("answers a prompt and a session's start through the hooks that it was wired with", async () => {
    const project = upgradedProject();
    const settings = JSON.parse(readFileSync(join(project.root, ".claude/settings.local.json"), "utf8"));
    const send = (event: string, fields: object) => {
      const [{ hooks }] = settings.hooks[event];
      const input = JSON.stringify({ hook_event_name: event, session_id: "s2", cwd: project.root, ...fields });
      const { command } = hooks[0];
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
        cwd: project.root,
        env: { PATH: process.env["PATH"], HOME: project.home, CLAUDE_PROJECT_DIR: project.root },
        input,
        encoding: "utf8",
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return stdout;
    };
    // Hooks do not upgrade the store themselves: the first session start does it in the background.
    const recorded = versionOf(project);
    send("SessionStart", { source: "startup" });
    await vi.waitFor(() => expect(versionOf(project)).toBeGreaterThan(recorded), { timeout: 30_000, interval: 100 });
    expect(send("UserPromptSubmit", { prompt: PROMPT })).toContain("api-errors");
    expect(project.haversack(["why", "--session", "s2"]).out).toContain("api-errors");
  });

  it("is moved by init, keeps its deferred skills, and is taken out whole by uninstall", () => {
    const project = upgradedProject();
    const read = (path: string) => readFileSync(join(project.root, path), "utf8");
    expect(read(".claude/settings.local.json")).toContain("db-migrations");
    for (const client of ["claude-code", "codex", "gemini", "opencode"]) {
      expect(project.haversack(["init", "--yes", "--client", client])).toMatchObject({ code: 0 });
      expect(project.haversack(["init", "--client", client]).out).toContain("Nothing to do");
    }
    const settings = read(".claude/settings.local.json");
    expect(settings).toContain("db-migrations");
    expect(settings).not.toContain("hook-main");

    expect(project.haversack(["uninstall", "--yes"])).toMatchObject({ code: 0 });
    const words = ["-rlis", "--exclude-dir=.git", "--exclude-dir=.haversack", "haversack", "."];
    expect(spawnSync("grep", words, { cwd: project.root, encoding: "utf8" }).stdout).toBe("");
  });

  it("works with the hooks of the plugin that came with it", () => {
    const project = upgradedProject();
    // Like the background process of a session start.
    project.haversack(["skill", "index"]);
    // The plugin stands back where init has wired the client.
    project.haversack(["uninstall", "--yes"]);
    const { hooks } = JSON.parse(plugin["hooks/hooks.json"] ?? "");
    const { command } = hooks.UserPromptSubmit[0].hooks[0];
    const { status, stdout } = spawnSync("/bin/sh", ["-c", command], {
      cwd: project.root,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
        HOME: project.home,
        CLAUDE_PLUGIN_ROOT: join(DIST, "plugin"),
        CLAUDE_PROJECT_DIR: project.root,
      },
      input: JSON.stringify({
        hook_event_name: "UserPromptSubmit",
        session_id: "s3",
        cwd: project.root,
        prompt: PROMPT,
      }),
      encoding: "utf8",
    });
    expect(status).toBe(0);
    expect(stdout).toContain("api-errors");
  });
});

function rebase(file: string, base: string): void {
  const db = new DatabaseSync(file);
  const tables = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'skills_search%' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  for (const { name } of tables) {
    for (const { name: column, type } of db.prepare("SELECT name, type FROM pragma_table_info(?)").all(String(name))) {
      if (type !== "TEXT") continue;
      const sql = `UPDATE ${name} SET "${column}" = replace("${column}", ?1, ?2) WHERE instr("${column}", ?1)`;
      db.prepare(sql).run("/fixture", base);
    }
  }
  db.close();
}

function versionOf({ root }: Scratch): number {
  const db = new DatabaseSync(join(root, ".haversack/haversack.db"), { readOnly: true });
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  db.close();
  return version;
}

/** A generated file begins with a hash of the rest, which contains paths. */
function restamped(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  if (!/^\/\/ haversack [0-9a-f]{12}$/.test(first)) return text;
  const body = rest.join("\n");
  return `// haversack ${createHash("sha256").update(body).digest("hex").slice(0, 12)}\n${body}`;
}

/** The name of a trust record in the earlier build. */
function fnv(text: string): string {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193) >>> 0;
    high = Math.imul(high ^ code ^ (low >>> 16), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}
