/** `haversack audit` as a user runs it. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

function record(type: string, content: unknown, more: object = {}): string {
  const message = { role: type, content, ...more };
  const common = { cwd: "/made/up", sessionId: "s-1", timestamp: "2026-05-04T23:30:00.000+09:00" };
  return `${JSON.stringify({ parentUuid: null, isSidechain: false, type, message, uuid: "u", ...common })}\n`;
}

/** A session in the client's own place, with a file whose name is markup. */
function writeTranscript({ home }: Scratch): string {
  const read = {
    type: "tool_use",
    id: "c1",
    name: "Read",
    input: { file_path: "/made/up/<script>alert(1)</script>.ts" },
  };
  const result = { type: "tool_result", tool_use_id: "c1", content: `key ${SECRET} `.repeat(200) };
  const again = (id: string) => [{ ...read, id }];
  const file = join(home, ".claude/projects/-made-up/s-1.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    [
      record("user", `Look at it. ${SECRET}`),
      record("assistant", again("c1"), { id: "m1", usage: { input_tokens: 100, output_tokens: 1 } }),
      record("user", [result]),
      record("assistant", again("c2"), { id: "m2", usage: { input_tokens: 200, output_tokens: 1 } }),
      record("user", [{ ...result, tool_use_id: "c2" }]),
      '{"cut off',
    ].join(""),
  );
  return file;
}

describe("haversack audit", () => {
  it("reads the clients' own places, and prints no text of a transcript", () => {
    const project = scratchProject();
    writeTranscript(project);
    const { code, out, err } = project.haversack(["audit"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("1 session, 1 window, 0 compactions");
    expect(out).toContain("read again unchanged once");
    expect(out).toContain("1 line cut off or not JSON, skipped.");
    expect(out).not.toContain(SECRET);
  });

  it("names remedies that work when they are typed", () => {
    const project = scratchProject();
    const long = (name: string) => `${name} `.repeat(3_000);
    const uses = (...names: string[]) =>
      names.flatMap((name, at) => {
        const input = { file_path: join(project.root, "a.ts"), command: "npm test" };
        const usage = { id: `m${at}`, usage: { input_tokens: 100, output_tokens: 1 } };
        const content = long(name === "Read" ? "same" : name);
        return [
          record("assistant", [{ type: "tool_use", id: `c${at}`, name, input }], usage),
          record("user", [{ type: "tool_result", tool_use_id: `c${at}`, content }]),
        ];
      });
    const attachment = { type: "skill_listing", content: long("skill") };
    const listing = {
      parentUuid: null,
      isSidechain: false,
      attachment,
      type: "attachment",
      sessionId: "s-1",
      cwd: "/made/up",
    };
    const file = join(project.home, ".claude/projects/-p/s1.jsonl");
    mkdirSync(dirname(file), { recursive: true });
    const tools = uses("Read", "Read", "Bash", "mcp__docs__find", "Task", "Edit");
    const plan = record("assistant", [{ type: "text", text: long("plan") }], { id: "m", usage: {} });
    writeFileSync(file, [JSON.stringify(listing), "\n", record("user", long("pasted")), plan, ...tools].join(""));
    const { wastes } = project.haversack(["audit", "--json"]).json();
    const kinds = wastes.map(({ kind }: { kind: string }) => kind).sort();
    expect(kinds).toEqual(
      ["mcp-result", "pasted", "planning", "reread", "shell-output", "skill-listing", "sub-agent-result"].sort(),
    );
    const values: Record<string, string> = { ROLE: "spec-reviewer", DIR: "docs/features/001", PLAN: "plan.md" };
    for (const { kind, remedy } of wastes) {
      // Somebody who follows this one alone, in a project that Haversack has never seen.
      const fresh = scratchProject();
      fresh.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Use when printing PDF files.\n---\nB\n");
      fresh.write("plan.md", "# Plan\n\n## First\n\n- [ ] Sew the strap\n");
      fresh.write("docs/features/001/spec.md", "# Spec\n");
      const typed: string[] = remedy.match(/`haversack [^`]+`/g);
      expect({ kind, typed: typed.length > 0 }).toEqual({ kind, typed: true });
      for (const command of typed) {
        const words = command.slice(11, -1).split(" ");
        // In a terminal it asks.
        if (words[0] === "init") words.push("--yes");
        const { code, out, err } = fresh.haversack(words.map((word) => values[word] ?? word));
        expect({ kind, command, code, text: code === 0 ? "" : out + err }).toEqual({
          kind,
          command,
          code: 0,
          text: "",
        });
      }
    }
  });

  it("reads a transcript whose first lines a crash has ruined", () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const whole = readFileSync(file, "utf8");
    for (const ruin of ["\0".repeat(4096), '{"parentUuid":nu', "Ã\u0080 not JSON"]) {
      writeFileSync(file, `${ruin}\n${whole}`);
      const { windows, records } = project.haversack(["audit", "--json"]).json();
      expect({ windows, broken: records.broken }).toEqual({ windows: 1, broken: 2 });
    }
  });

  it("reads a transcript that grows meanwhile, up to where it was whole", async () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const writer = setInterval(() => appendFileSync(file, record("user", "And more. ".repeat(500))), 1);
    onTestFinished(() => clearInterval(writer));
    for (let round = 0; round < 5; round++) {
      const { code, out } = await run(project, ["audit", "--json"]);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ windows: 1, sessions: [{ session_id: "s-1" }] });
      await new Promise((done) => setTimeout(done, 10));
    }
  });

  it("writes a report over an earlier one only, never over a transcript or another file", () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const notes = project.write("notes.html", "mine");
    for (const target of [file, notes]) {
      const before = readFileSync(target, "utf8");
      const { code, err } = project.haversack(["audit", file, "--html", target]);
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("nothing was written") });
      expect(readFileSync(target, "utf8")).toBe(before);
    }
    const report = join(project.root, "report.html");
    for (const _ of [1, 2]) expect(project.haversack(["audit", file, "--html", report]).code).toBe(0);
  });

  it("prints JSON, and counts days in this machine's time zone", () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const audit = (zone: string) => project.haversack(["audit", file, "--json"], { env: { TZ: zone } }).json();
    expect(audit("Asia/Tokyo")).toMatchObject({ files: 1, windows: 1, days: [{ name: "2026-05-04", sessions: 1 }] });
    expect(audit("Pacific/Kiritimati")).toMatchObject({ days: [{ name: "2026-05-05" }] });
    const { sessions } = audit("UTC");
    expect(sessions).toMatchObject([
      { session_id: "s-1", agent_id: "", project: "/made/up", windows: [{ requests: 2 }] },
    ]);
    expect(sessions[0].windows[0].ended_at).toBe("2026-05-04T14:30:00.000Z");
  });

  it("writes a report that holds no markup of others and needs nothing from elsewhere", () => {
    const project = scratchProject();
    writeTranscript(project);
    expect(project.haversack(["audit", "--html", "report.html"])).toMatchObject({ code: 0 });
    const html = readFileSync(join(project.root, "report.html"), "utf8");
    expect(html).toContain("<svg");
    expect(html).toContain("&#60;script&#62;alert(1)");
    expect(html).not.toMatch(/<script|https?:|src=|href=|url\(/);
    expect(html).not.toContain(SECRET);
  });

  it("writes days and times of the report in the same time zone", () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const boundary = {
      ...{ type: "system", subtype: "compact_boundary", sessionId: "s-1", cwd: "/made/up" },
      ...{
        timestamp: "2026-05-04T14:30:00.000Z",
        compactMetadata: { trigger: "auto", preTokens: 900, postTokens: 10 },
      },
    };
    appendFileSync(file, `\n${JSON.stringify(boundary)}\n`);
    const env = { TZ: "Pacific/Kiritimati" };
    expect(project.haversack(["audit", "--html", "report.html"], { env })).toMatchObject({ code: 0 });
    const html = readFileSync(join(project.root, "report.html"), "utf8");
    expect(html).toContain("<td>2026-05-05 04:30<br>");
    expect(html).not.toContain("2026-05-04");
  });

  it("says what is no transcript, what is missing, and that there are none", () => {
    const project = scratchProject();
    const none = project.haversack(["audit"]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain("no transcripts found");
    expect(none.err).toContain(".claude/projects");
    const other = project.write("notes.txt", "Not a transcript.");
    const { code, err } = project.haversack(["audit", other, "gone.jsonl", "."]);
    expect(code).toBe(1);
    expect(err).toContain(`${other} is not a transcript that we know`);
    expect(err).toContain("gone.jsonl does not exist or cannot be read");
    expect(err).toContain("holds no transcript that we know");
  });

  it("keeps going beside a bad path, and exits with 1", () => {
    const project = scratchProject();
    const file = writeTranscript(project);
    const { code, out, err } = project.haversack(["audit", "gone.jsonl", file]);
    expect(code).toBe(1);
    expect(out).toContain("1 session");
    expect(err).toContain("gone.jsonl");
  });

  it("does not choke on a database that is none of opencode's", () => {
    const project = scratchProject();
    const file = project.write("opencode.db", "SQLite format 3\0 and then nonsense");
    const { code, out } = project.haversack(["audit", file]);
    expect(code).toBe(0);
    expect(out).toContain("Nothing to report.");
  });
});
