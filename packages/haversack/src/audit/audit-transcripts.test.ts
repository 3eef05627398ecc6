import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { countTokens, loadCounter } from "../tokens/count.ts";
import { type Audit, type AuditOptions, auditTranscripts } from "./audit-transcripts.ts";
import { Calibration } from "./calibration.ts";
import { findTranscripts } from "./find-transcripts.ts";
import { READERS } from "./readers.ts";
import { WindowLedger } from "./window-ledger.ts";

function folder(files: Record<string, string>): string {
  const base = mkdtempSync(join(tmpdir(), "haversack-audit-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  return base;
}

async function audit(files: Record<string, string>, options: Partial<AuditOptions> = {}): Promise<Audit> {
  const { files: found } = findTranscripts({ env: {}, readers: READERS, paths: [folder(files)] });
  return auditTranscripts(found, { countTokens: await loadCounter(), ...options });
}

const lines = (...records: unknown[]) => records.map((one) => `${JSON.stringify(one)}\n`).join("");
const words = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} word ${at}`).join(" ");

const CWD = "/made/up";
let turn = 0;
const claude = (type: string, message: unknown, more: object = {}) => ({
  parentUuid: null,
  isSidechain: false,
  type,
  message,
  uuid: `u${++turn}`,
  timestamp: "2026-05-04T10:00:00.000Z",
  cwd: CWD,
  sessionId: "s1",
  ...more,
});
const user = (content: unknown, more?: object) => claude("user", { role: "user", content }, more);
const answer = (id: string, content: unknown[], input = 0) =>
  claude("assistant", { id, role: "assistant", content, usage: { input_tokens: input, output_tokens: 1 } });
const call = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
const result = (id: string, content: string) =>
  user([{ type: "tool_result", tool_use_id: id, content }], { toolUseResult: content });

describe("auditTranscripts", () => {
  it("tells reads, the same text read again, and shell output apart; and counts them exactly when they are few", async () => {
    const text = words("file", 300);
    const { sessions } = await audit({
      "p/s1.jsonl": lines(
        user("Fix it."),
        answer("m1", [call("c1", "Read", { file_path: `${CWD}/a.ts` })]),
        result("c1", text),
        answer("m2", [call("c2", "Read", { file_path: `${CWD}/a.ts` })]),
        result("c2", text),
        answer("m3", [call("c3", "Bash", { command: "npm test" })]),
        result("c3", words("out", 900)),
        answer("m4", [call("c4", "Edit", { file_path: `${CWD}/a.ts`, old_string: "a", new_string: "b" })]),
      ),
    });
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).toMatchObject({ client: "claude-code", sessionId: "s1", project: CWD, requests: 4 });
    const { categories } = sessions[0]!.windows[0]!;
    expect(categories.file_reads).toBe(await countTokens(text));
    expect(categories.file_rereads).toBe(await countTokens(text));
    expect(categories.shell_output).toBe(await countTokens(words("out", 900)));
    expect(categories.planning).toBeGreaterThan(0);
  });

  it("counts what was said as conversation if nothing was edited", async () => {
    const { categories } = await audit({
      "p/s1.jsonl": lines(user("Hello."), answer("m1", [{ type: "text", text: words("plan", 50) }])),
    });
    expect(categories).toMatchObject({ planning: 0, conversation: expect.closeTo(153, -2) });
  });

  it("names the wastes with remedies, and never an argument of a command or a text", async () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const result1 = await audit({
      "p/s1.jsonl": lines(
        user(`${words("pasted", 600)} ${secret}`),
        answer("m1", [call("c1", "Bash", { command: `curl -H "Authorization: ${secret}" https://example.test` })]),
        result("c1", `${words("out", 2_000)} ${secret}`),
        answer("m2", [call("c2", "Bash", { command: `TOKEN=${secret} npm test --token=${secret}` })]),
        result("c2", words("test", 2_000)),
      ),
    });
    expect(result1.wastes.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      "pasted ",
      "shell-output curl",
      "shell-output npm test",
    ]);
    for (const { remedy } of result1.wastes) expect(remedy).not.toBe("");
    expect(JSON.stringify(result1)).not.toContain(secret);
  });

  it("names pasted documents once per project, and apart those that were pasted again", async () => {
    const file = (...texts: string[]) => lines(...texts.map((text) => user(text)));
    const [first, second, again] = [words("first", 900), words("second", 600), words("again", 700)];
    const { wastes } = await audit({ "p/s1.jsonl": file(first, again), "p/s2.jsonl": file(second, again) });
    const [largest] = await Promise.all([first].map(countTokens));
    expect(
      wastes.map(({ kind, count, text }) => ({ kind, count, text })).sort((a, b) => (a.text < b.text ? -1 : 1)),
    ).toEqual([
      {
        ...{ kind: "pasted", count: 2 },
        text: `2 documents were pasted into prompts, the largest of ${largest?.toLocaleString("en-US")} tokens.`,
      },
      {
        kind: "pasted",
        count: 2,
        text: expect.stringMatching(/^The same document of [\d,]+ tokens was pasted twice\.$/),
      },
    ]);
  });

  it("names rereads once per project, with the file that was read most", async () => {
    const reads = ["a.ts", "b.ts", "b.ts", "b.ts", "a.ts", "c.ts", "c.ts"].flatMap((name, at) => [
      answer(`m${at}`, [call(`c${at}`, "Read", { file_path: `${CWD}/${name}` })]),
      result(`c${at}`, words(name, 400)),
    ]);
    const { wastes } = await audit({ "p/s1.jsonl": lines(user("Read."), ...reads) });
    expect(wastes.map(({ kind, name, count, text }) => ({ kind, name, count, text }))).toEqual([
      {
        ...{ kind: "reread", name: "b.ts", count: 4 },
        text: "b.ts was read again unchanged twice, and 2 other files twice, while the window still held the same text.",
      },
    ]);
  });

  it("names no remedy that the client does not allow", async () => {
    const say = (id: string, name: string, args: object, text: string) => ({
      ...{
        id,
        type: "gemini",
        content: "",
        timestamp: "2026-05-04T10:00:00.000Z",
        tokens: { input: 9_000, output: 1 },
      },
      toolCalls: [{ id, name, args, result: [{ functionResponse: { id, name, response: { output: text } } }] }],
    });
    const header = { sessionId: "s1", projectHash: "p", startTime: "2026-05-04T10:00:00.000Z", kind: "main" };
    const read = { file_path: `${CWD}/a.ts` };
    const { wastes } = await audit({
      "session-1.jsonl": lines(
        header,
        { id: "0", type: "user", content: "Read." },
        say("1", "run_shell_command", { command: "npm test" }, words("output", 3_000)),
        say("2", "read_file", read, words("file", 1_000)),
        say("3", "read_file", read, words("file", 1_000)),
      ),
    });
    expect(wastes.map(({ kind, remedy }) => ({ kind, remedy }))).toEqual([
      { kind: "shell-output", remedy: expect.stringContaining("No hook of Gemini CLI can replace it.") },
      { kind: "reread", remedy: expect.stringContaining("No hook of Gemini CLI can replace it.") },
    ]);
  });

  it("keeps nothing of a session that only its reading needs", async () => {
    const done: object[] = [];
    const calibration = new Calibration(await loadCounter());
    const records = { read: 0, skipped: 0, broken: 0, unknown: new Map() };
    const about = { client: "codex", hasFixed: false, absent: [], path: "x" } as const;
    const ledger = new WindowLedger(about, { calibration, records, done: (lane) => done.push(lane) });
    ledger.session({ sessionId: "s", agentId: "" });
    ledger.mark("m1");
    ledger.add("read", words("file", 100), "a.ts");
    ledger.end();
    expect(done).toHaveLength(1);
    for (const key of ["marks", "reads", "window"]) expect(Object.keys(done[0]!)).not.toContain(key);
  });

  it("starts a new window at a compaction, keeps what the client kept, and says what was lost", async () => {
    const kept = user("Keep this prompt.");
    const { sessions } = await audit({
      "p/s1.jsonl": lines(
        user("Read it."),
        answer("m1", [call("c1", "Read", { file_path: "/x" })]),
        result("c1", words("file", 400)),
        answer("m2", [{ type: "text", text: "Done." }]),
        kept,
        claude("system", undefined, {
          subtype: "compact_boundary",
          compactMetadata: { trigger: "auto", preservedMessages: { allUuids: [kept.uuid] } },
        }),
        user("The summary.", { isCompactSummary: true }),
        answer("m3", [{ type: "text", text: "Going on." }]),
      ),
    });
    const [first, second] = sessions[0]!.windows;
    expect(first?.compaction).toMatchObject({ trigger: "auto", lost: { file_reads: first?.categories.file_reads } });
    expect(second?.categories).toMatchObject({ file_reads: 0, summaries: await countTokens("The summary.") });
    expect(second?.categories.conversation).toBe(
      (await countTokens("Keep this prompt.")) + (await countTokens("Going on.")),
    );
  });

  it("puts what the client reported and nothing explains in a row of its own", async () => {
    const codex = (type: string, payload: object) => ({ timestamp: "2026-05-04T12:00:00+02:00", type, payload });
    const said = (role: string, text: string) =>
      codex("response_item", { type: "message", role, content: [{ type: "input_text", text }] });
    const usage = (input: number) => codex("token_usage_record", { usage: { input_tokens: input, output_tokens: 5 } });
    const { sessions, days } = await audit({
      "rollout-1.jsonl": lines(
        codex("session_meta", { id: "t1", cwd: CWD, base_instructions: { text: words("system", 100) } }),
        said("user", "First."),
        said("assistant", "One."),
        usage(5_000),
        said("user", "Second."),
        said("assistant", "Two."),
        usage(6_000),
      ),
    });
    const [{ windows, isSystemInferred }] = sessions as [Audit["sessions"][0]];
    // The rest of the first request is the tools, which no rollout contains.
    expect(isSystemInferred).toBe(true);
    expect(windows[0]?.categories.system).toBe(5_000 - (await countTokens("First.")));
    expect(windows[0]?.categories.unexplained).toBe(
      6_000 - 5_000 - (await countTokens("One.")) - (await countTokens("Second.")),
    );
    expect(windows[0]?.endedAt).toBe("2026-05-04T10:00:00.000Z");
    expect(days).toHaveLength(1);
  });

  it("skips broken lines, records of unknown kinds and empty files, and counts them", async () => {
    const { records, sessions } = await audit({
      "p/s1.jsonl": `${lines(user("Hello."), { type: "brand-new-record", sessionId: "s1" })}{"type":"user","mess\n\0\0\n[1]\n${lines(answer("m1", [{ type: "text", text: "Hi." }]))}{"cut`,
      "p/empty.jsonl": "",
      "p/other.jsonl": '{"not":"a transcript"}\n',
    });
    expect(sessions).toHaveLength(1);
    expect(records.broken).toBe(3);
    expect(records.unknown).toMatchObject({ "brand-new-record": 1 });
  });

  it("takes Gemini's history anew when the client writes it again, and results once", async () => {
    const id = { sessionId: "g1", projectHash: "0", startTime: "2026-05-04T10:00:00Z", kind: "main" };
    const asked = { id: "1", type: "user", content: [{ text: "Read it." }] };
    const response = { functionResponse: { id: "c", name: "read_file", response: { output: words("file", 200) } } };
    const calls = [{ id: "c", name: "read_file", args: { file_path: "a.ts" }, result: [response] }];
    const first = { id: "2", type: "gemini", content: "", tokens: { input: 900, output: 1 } };
    const file = lines(
      id,
      asked,
      first,
      { ...first, toolCalls: calls },
      { id: "3", type: "user", content: [response] },
      {
        $set: {
          messages: [
            asked,
            { id: "2", type: "gemini", content: [{ functionCall: { id: "c", name: "read_file", args: {} } }] },
            { id: "3", type: "user", content: [response] },
          ],
        },
      },
    );
    const { categories } = await audit({ "session-1.jsonl": file });
    expect(categories).toMatchObject({ file_reads: await countTokens(words("file", 200)), file_rereads: 0 });
  });

  it("selects by time and by project", async () => {
    const file = { "p/s1.jsonl": lines(user("Hello."), answer("m1", [{ type: "text", text: "Hi." }])) };
    const count = async (options: Partial<AuditOptions>) => (await audit(file, options)).sessions.length;
    expect(await count({ since: new Date("2026-05-04T09:00:00Z") })).toBe(1);
    expect(await count({ since: new Date("2026-05-04T11:00:00Z") })).toBe(0);
    expect(await count({ project: "/made" })).toBe(1);
    expect(await count({ project: "/made/up" })).toBe(1);
    expect(await count({ project: "/made/u" })).toBe(0);
  });
});
