/** `haversack replay` as a user runs it. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";

const PROMPT = "Tie the bowline knots in these ropes.";

function knots(): Scratch {
  const project = scratchProject();
  const text = "---\nname: knots\ndescription: Ties bowline knots in ropes and checks the ropes.\n---\n\nTie them.\n";
  project.write(".claude/skills/knots/SKILL.md", text);
  return project;
}

function payloads({ root }: Scratch): object[] {
  const base = { session_id: "s1", cwd: root };
  return [
    { ...base, hook_event_name: "SessionStart", source: "startup" },
    { ...base, hook_event_name: "UserPromptSubmit", prompt: PROMPT },
    { ...base, hook_event_name: "UserPromptSubmit", prompt: PROMPT },
  ];
}

const jsonLines = (list: readonly object[]) => list.map((one) => `${JSON.stringify(one)}\n`).join("");

describe("haversack replay of hook payloads", () => {
  it("answers each as the hook does, and leaves the project as it is", () => {
    const project = knots();
    const given = payloads(project);
    const file = project.write("events.jsonl", jsonLines(given));
    const { client, events, tokens } = project.haversack(["replay", file, "--json"]).json();
    expect(client).toBe("claude-code");
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);

    project.haversack(["skill", "index"]);
    const answers = given.map((payload) => project.hook(payload).out);
    expect(events.map(({ answer }: { answer: string }) => answer)).toEqual(answers);
    expect(answers[1]).toContain("knots");
    expect(tokens).toBe(events[1].tokens);
    // What the project's own session was shown is not the replay's.
    const before = readFileSync(join(project.root, ".haversack/haversack.db"));
    expect(project.haversack(["replay", file, "--json"]).json().events[1].answer).toBe(answers[1]);
    expect(readFileSync(join(project.root, ".haversack/haversack.db")).equals(before)).toBe(true);
  });

  it("takes what a recorder wrote, reports bad lines by number, and leaves no scratch folder", () => {
    const project = knots();
    const [, prompt] = payloads(project);
    const temporary = join(project.home, "tmp");
    mkdirSync(temporary);
    const file = project.write("events.jsonl", `${jsonLines([{ payload: prompt }, { other: 1 }])}{"cut`);
    const { code, out, err } = project.haversack(["replay", file, "--answers"], { env: { TMPDIR: temporary } });
    expect(code).toBe(1);
    expect(out).toContain("1 event of claude-code");
    expect(out).toContain("# Skill Recommendations");
    expect(err).toContain("line 2 is not a hook payload");
    expect(err).toContain("line 3 is cut off or not JSON");
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("knows Gemini CLI's events", () => {
    const project = knots();
    const prompt = { session_id: "s1", cwd: project.root, hook_event_name: "BeforeAgent", prompt: PROMPT };
    const { client, events } = project
      .haversack(["replay", project.write("one.json", JSON.stringify(prompt)), "--json"])
      .json();
    expect(client).toBe("gemini");
    expect(events).toMatchObject([{ event: "BeforeAgent", answer: expect.stringContaining("knots") }]);
  });

  it("refuses a file that is neither", () => {
    const project = knots();
    const { code, err } = project.haversack(["replay", project.write("notes.txt", "Nothing.")]);
    expect(code).not.toBe(0);
    expect(err).toContain("holds no hook payloads and is not a transcript that we know");
    expect(project.haversack(["replay", "gone.jsonl"]).code).toBe(1);
  });
});

describe("haversack replay of a transcript", () => {
  it("estimates the same session with Haversack, counts what the engine adds, and says that it is an estimate", () => {
    const project = knots();
    const common = { isSidechain: false, cwd: project.root, sessionId: "s1", timestamp: "2026-05-04T10:00:00Z" };
    const record = (type: string, message: object) => ({ parentUuid: null, type, message, uuid: "u", ...common });
    const listing = (name: string) => `- ${name}: ${"Ties knots in every rope that it finds. ".repeat(10)}`;
    const attachment = { type: "skill_listing", content: "" };
    const rendered = [{ content: [listing("knots"), listing("bundled-by-the-client")].join("\n") }];
    const read = (id: string) => ({
      type: "tool_use",
      id,
      name: "Read",
      input: { file_path: join(project.root, "a.ts") },
    });
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "const a = 1;\n".repeat(100) });
    const file = project.write(
      "session.jsonl",
      jsonLines([
        record("user", { content: PROMPT }),
        { parentUuid: null, attachment, type: "attachment", rendered, uuid: "u", ...common },
        record("assistant", { id: "m1", content: [read("c1")] }),
        record("user", { content: [result("c1")] }),
        record("assistant", { id: "m2", content: [read("c2")] }),
        record("user", { content: [result("c2")] }),
      ]),
    );
    const { client, estimate } = project.haversack(["replay", file, "--json"]).json();
    expect(client).toBe("claude-code");
    expect(estimate).toMatchObject({ sessions: 1, windows: 1, prompts: 1 });
    expect(estimate.added).toBeGreaterThan(20);
    const [skills, , , again] = estimate.savings;
    // Only the project's own skill can be deferred, and what the engine adds counts against it.
    expect(skills.after).toBeGreaterThan(skills.before / 2);
    expect(again.after).toBeLessThan(again.before / 5);
    expect(estimate.saved.low).toBe(skills.before - skills.after);
    expect(estimate.saved.high).toBeGreaterThan(estimate.saved.low);
    const { code, out } = project.haversack(["replay", file]);
    expect(code).toBe(0);
    expect(out).toContain("This is an estimate.");
  });

  it("counts no saving that the client does not allow", () => {
    const project = knots();
    const output = "const a = 1;\n".repeat(2_000);
    const call = (id: string, name: string, args: object) => ({
      ...{
        id,
        type: "gemini",
        content: "",
        timestamp: "2026-05-04T10:00:00.000Z",
        tokens: { input: 9_000, output: 1 },
      },
      toolCalls: [{ id, name, args, result: [{ functionResponse: { id, name, response: { output } } }] }],
    });
    const file = project.write(
      "session-1.jsonl",
      jsonLines([
        { sessionId: "s1", projectHash: "p", startTime: "2026-05-04T10:00:00.000Z", kind: "main" },
        { id: "0", type: "user", content: PROMPT },
        call("1", "run_shell_command", { command: "npm test" }),
      ]),
    );
    const { client, estimate } = project.haversack(["replay", file, "--json"]).json();
    expect(client).toBe("gemini");
    const shell = estimate.savings.find(({ what }: { what: string }) => what === "Shell output");
    expect(shell.before).toBeGreaterThan(5_000);
    expect(shell).toMatchObject({ after: shell.before, needs: "not possible in Gemini CLI" });
    expect(project.haversack(["replay", file]).out).toMatch(/Saved in windows: -?[\d,]+ tokens/);
  });
});
