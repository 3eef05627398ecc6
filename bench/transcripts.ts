/**
 * Made-up transcripts in the shape that the clients write: the same records in the same order and of similar size, with prose, code and command
 * output of our own making. No real conversation is in them.
 */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type MadeClient = "claude-code" | "codex" | "gemini" | "opencode";

/** Writes sessions of about 3 MB each until there are this many bytes. */
export function writeTranscripts(client: MadeClient, folder: string, bytes: number): void {
  if (client === "opencode") {
    writeDatabase(join(folder, "opencode.db"), bytes);
    return;
  }
  let written = 0;
  for (let session = 0; written < bytes; session++) {
    const file = join(folder, FILES[client](session));
    mkdirSync(dirname(file), { recursive: true });
    const out = openSync(file, "w");
    const put = (record: unknown) => {
      written += writeSync(out, `${JSON.stringify(record)}\n`);
    };
    const limit = written + SESSION_BYTES;
    WRITERS[client](put, session, () => written < limit);
    closeSync(out);
  }
}

const SESSION_BYTES = 3_000_000;

const FILES: Record<Exclude<MadeClient, "opencode">, (session: number) => string> = {
  "claude-code": (session) => `-made-up/${uuid("s", session)}.jsonl`,
  codex: (session) => `2026/01/02/rollout-2026-01-02T03-04-05-${uuid("s", session)}.jsonl`,
  gemini: (session) => `made-up/chats/session-2026-01-02T03-04-${uuid("s", session).slice(0, 8)}.jsonl`,
};

type Put = (record: unknown) => void;
type Writer = (put: Put, session: number, isGoingOn: () => boolean) => void;

function uuid(...of: (string | number)[]): string {
  const hex = createHash("md5").update(of.join("/")).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const WORDS =
  "queue task handoff window session skill reader budget ledger packet claim lease store index project client request answer result record".split(
    " ",
  );

function prose(seed: number, sentences: number): string {
  const word = (at: number) => WORDS[(seed * 7 + at * 13) % WORDS.length];
  return Array.from({ length: sentences }, (_, at) => {
    return `The ${word(at)} waits for the ${word(at + 3)} until the ${word(at + 5)} has been written, then it returns ${at + seed}.`;
  }).join("\n");
}

function code(seed: number, functions: number): string {
  return Array.from({ length: functions }, (_, at) => {
    const name = `${WORDS[(seed + at) % WORDS.length]}Of${at}`;
    return `export function ${name}(input: ReadonlyMap<string, number>): number {\n  const found = input.get("${name}-${seed}");\n  return found === undefined ? ${at} : found * ${seed % 97};\n}\n`;
  }).join("\n");
}

function numbered(text: string): string {
  return text
    .split("\n")
    .map((line, at) => `${at + 1}\t${line}`)
    .join("\n");
}

function output(seed: number, lines: number): string {
  return Array.from({ length: lines }, (_, at) => {
    return ` ✓ src/${WORDS[at % WORDS.length]}.test.ts (${(seed + at) % 40} tests) ${(at * 37) % 900}ms`;
  }).join("\n");
}

const time = (session: number, step: number) => new Date(1.767e12 + session * 3.6e6 + step * 5_000).toISOString();

const claude: Writer = (put, session, isGoingOn) => {
  const sessionId = uuid("s", session);
  const cwd = "/made/up/project";
  const common = { userType: "external", cwd, sessionId, version: "2.1.325", gitBranch: "main" };
  const tools = Array.from({ length: 20 }, (_, at) => ({
    name: `Tool${at}`,
    description: prose(at, 8),
    input_schema: {},
  }));
  const shape = { system: [{ type: "text", text: prose(1, 60) }], tools };
  for (let step = 0; isGoingOn(); step++) {
    const at = { timestamp: time(session, step), uuid: uuid(session, step) };
    const user = (content: unknown, more: object = {}) =>
      put({
        parentUuid: uuid(session, step),
        isSidechain: false,
        type: "user",
        message: { role: "user", content },
        ...at,
        ...more,
        ...common,
      });
    if (step % 40 === 0) {
      put({
        type: "queue-operation",
        operation: "enqueue",
        timestamp: time(session, step),
        sessionId,
        content: prose(step, 12),
      });
      user(prose(step, 12));
      put({
        type: "api-request-shape",
        sessionId,
        shapeHash: "c59f",
        timestamp: time(session, step),
        version: "2.1.325",
        shape,
      });
      put({
        parentUuid: null,
        isSidechain: false,
        attachment: { type: "prompt_snapshot", systemPrompt: [prose(1, 60)], tools },
        type: "attachment",
        ...at,
        ...common,
      });
      put({
        type: "api-request-blob",
        sessionId,
        hash: uuid(step),
        message: { role: "user", content: prose(step, 12) },
      });
    }
    const id = `toolu_${session}_${step}`;
    const [name, input, shown, screen] = claudeCall(step);
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 20_000 + step * 900,
      cache_creation_input_tokens: 900,
      output_tokens: 120,
    };
    const message = (content: unknown[]) => ({
      id: `msg_${session}_${step}`,
      type: "message",
      role: "assistant",
      model: "made-up",
      content,
      stop_reason: "tool_use",
      usage,
    });
    put({
      parentUuid: uuid(session, step),
      isSidechain: false,
      message: message([{ type: "text", text: prose(step, 2) }]),
      type: "assistant",
      ...at,
      ...common,
    });
    put({
      parentUuid: uuid(session, step),
      isSidechain: false,
      message: message([{ type: "tool_use", id, name, input }]),
      type: "assistant",
      ...at,
      ...common,
    });
    user([{ tool_use_id: id, type: "tool_result", content: shown, is_error: false }], { toolUseResult: screen });
    put({
      parentUuid: uuid(session, step),
      isSidechain: false,
      attachment: {
        type: "hook_success",
        hookName: `PostToolUse:${name}`,
        toolUseID: id,
        content: "",
        stdout: "{}",
        stderr: "",
        exitCode: 0,
      },
      type: "attachment",
      ...at,
      ...common,
    });
    put({
      type: "api-request",
      sessionId,
      id: uuid(step, 1),
      timestamp: time(session, step),
      shapeHash: "c59f",
      params: { model: "made-up", max_tokens: 128_000 },
      keep: step * 2,
      tail: [uuid(step, 2), uuid(step, 3)],
    });
    if (step % 120 === 119) {
      put({
        parentUuid: null,
        isSidechain: false,
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        ...at,
        compactMetadata: { trigger: "auto", preTokens: 150_000 },
        ...common,
      });
      user(prose(step, 20), { isCompactSummary: true });
    }
  }
};

/** Name, input, what the model sees, and what the screen shows. */
function claudeCall(step: number): [string, object, string, unknown] {
  const file = `/made/up/project/src/${WORDS[step % WORDS.length]}.ts`;
  if (step % 4 === 0) {
    const text = code(step % 10, 30);
    return [
      "Read",
      { file_path: file },
      numbered(text),
      { type: "text", file: { filePath: file, content: text, numLines: 150, startLine: 1, totalLines: 150 } },
    ];
  }
  if (step % 4 === 1) {
    const text = output(step, 60);
    return [
      "Bash",
      { command: "npm test", description: "Run the tests" },
      text,
      { stdout: text, stderr: "", interrupted: false, isImage: false },
    ];
  }
  if (step % 4 === 2) {
    const [before, after] = [code(step, 2), code(step + 1, 2)];
    return [
      "Edit",
      { file_path: file, old_string: before, new_string: after },
      `The file ${file} has been updated.`,
      {
        filePath: file,
        oldString: before,
        newString: after,
        originalFile: code(step, 30),
        structuredPatch: [{ lines: before.split("\n") }],
      },
    ];
  }
  return [
    "Grep",
    { pattern: "function", path: "src" },
    output(step, 12),
    { mode: "content", content: output(step, 12) },
  ];
}

const codex: Writer = (put, session, isGoingOn) => {
  const id = uuid("s", session);
  let step = 0;
  const line = (type: string, payload: unknown) => put({ timestamp: time(session, step), type, payload });
  const item = (payload: object) =>
    line("response_item", { ...payload, internal_chat_message_metadata_passthrough: { turn_id: uuid(session) } });
  line("session_meta", {
    session_id: id,
    id,
    timestamp: time(session, 0),
    cwd: "/made/up/project",
    cli_version: "0.166.0",
    base_instructions: { text: prose(1, 160) },
  });
  for (; isGoingOn(); step++) {
    if (step % 40 === 0) {
      item({ type: "message", role: "user", content: [{ type: "input_text", text: prose(step, 12) }] });
      line("event_msg", {
        type: "item_completed",
        item: { type: "UserMessage", content: [{ type: "text", text: prose(step, 12) }] },
      });
      line("world_state", { full: true, state: { agents_md: { text: prose(2, 40) }, skills: prose(3, 40) } });
      line("turn_context", { turn_id: uuid(session), cwd: "/made/up/project", model: "made-up", effort: "medium" });
    }
    const cmd = step % 2 === 0 ? `cat src/${WORDS[step % WORDS.length]}.ts` : "npm test";
    const text = step % 2 === 0 ? code(step % 10, 30) : output(step, 60);
    const call = `call_${session}_${step}`;
    item({
      type: "function_call",
      id: `fc_${step}`,
      name: "exec_command",
      arguments: JSON.stringify({ cmd }),
      call_id: call,
    });
    const usage = {
      input_tokens: 20_000 + step * 900,
      cached_input_tokens: 20_000,
      output_tokens: 120,
      total_tokens: 21_000 + step * 900,
    };
    line("token_usage_record", { thread_id: id, turn_id: uuid(session), usage, turn_token_usage: usage });
    line("event_msg", {
      type: "item_completed",
      thread_id: id,
      item: {
        type: "CommandExecution",
        id: call,
        command: ["/bin/bash", "-lc", cmd],
        parsed_cmd: [{ type: "unknown", cmd }],
        status: "completed",
        aggregated_output: text,
        exit_code: 0,
      },
    });
    item({
      type: "function_call_output",
      call_id: call,
      output: `Chunk ID: ${step}\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n${text}`,
    });
    line("event_msg", {
      type: "token_count",
      info: { total_token_usage: usage, last_token_usage: usage, model_context_window: 258_400 },
    });
    if (step % 200 === 199)
      line("compacted", {
        message: prose(step, 20),
        replacement_history: [
          { type: "message", role: "user", content: [{ type: "input_text", text: prose(step, 20) }] },
        ],
      });
  }
};

const gemini: Writer = (put, session, isGoingOn) => {
  put({
    sessionId: uuid("s", session),
    projectHash: "0".repeat(64),
    startTime: time(session, 0),
    lastUpdated: time(session, 0),
    kind: "main",
  });
  for (let step = 0; isGoingOn(); step++) {
    const at = { timestamp: time(session, step) };
    const touched = () => put({ $set: { lastUpdated: time(session, step) } });
    if (step % 40 === 0)
      put({ id: uuid(session, step, "u"), ...at, type: "user", content: [{ text: prose(step, 12) }] });
    const tokens = {
      input: 20_000 + step * 900,
      output: 120,
      cached: 10_000,
      thoughts: 0,
      tool: 0,
      total: 20_120 + step * 900,
    };
    const answer = {
      id: uuid(session, step),
      ...at,
      type: "gemini",
      content: prose(step, 2),
      thoughts: [],
      tokens,
      model: "made-up",
    };
    put(answer);
    touched();
    const id = `call_${step}`;
    const isRead = step % 2 === 0;
    const name = isRead ? "read_file" : "run_shell_command";
    const text = isRead ? code(step % 10, 30) : output(step, 60);
    const args = isRead ? { file_path: `src/${WORDS[step % WORDS.length]}.ts` } : { command: "npm test" };
    const functionResponse = { id, name, response: { output: text } };
    put({
      ...answer,
      toolCalls: [
        {
          id,
          name,
          args,
          result: [{ functionResponse }],
          status: "success",
          ...at,
          resultDisplay: isRead ? "" : text,
          description: "",
          displayName: name,
        },
      ],
    });
    put({ id: uuid(session, step, "r"), ...at, type: "user", content: [{ functionResponse }] });
    touched();
  }
};

const WRITERS: Record<Exclude<MadeClient, "opencode">, Writer> = { "claude-code": claude, codex, gemini };

/** Only the tables and columns that are read. */
function writeDatabase(file: string, bytes: number): void {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file);
  db.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
CREATE INDEX message_session ON message (session_id, time_created, id);
CREATE INDEX part_message ON part (message_id, id);
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;`);
  const putMessage = db.prepare("INSERT INTO message VALUES (?, ?, ?, ?)");
  const putPart = db.prepare("INSERT INTO part VALUES (?, ?, ?, ?)");
  db.exec("BEGIN");
  let written = 0;
  for (let session = 0; written < bytes; session++) {
    const id = `ses_${String(session).padStart(6, "0")}`;
    db.prepare("INSERT INTO session VALUES (?, NULL, '/made/up/project', ?)").run(id, session);
    for (let step = 0, limit = written + SESSION_BYTES; written < limit; step++) {
      const at = 1.767e12 + session * 3.6e6 + step * 5_000;
      const messageId = `msg_${session}_${String(step).padStart(6, "0")}`;
      const isUser = step % 40 === 0;
      const tokens = {
        total: 20_000 + step * 900,
        input: 100,
        output: 120,
        reasoning: 0,
        cache: { write: 900, read: 19_000 + step * 900 },
      };
      const message = JSON.stringify(
        isUser
          ? { role: "user", time: { created: at } }
          : { role: "assistant", mode: "build", tokens, path: { cwd: "/made/up/project" } },
      );
      putMessage.run(messageId, id, at, message);
      written += message.length;
      const parts = isUser ? [{ type: "text", text: prose(step, 12) }] : opencodeParts(step);
      parts.forEach((part, place) => {
        const data = JSON.stringify(part);
        putPart.run(`prt_${session}_${String(step).padStart(6, "0")}_${place}`, messageId, id, data);
        written += data.length;
      });
    }
  }
  db.exec("COMMIT");
  db.close();
}

function opencodeParts(step: number): object[] {
  const isRead = step % 2 === 0;
  const text = isRead ? numbered(code(step % 10, 30)) : output(step, 60);
  const input = isRead
    ? { filePath: `/made/up/project/src/${WORDS[step % WORDS.length]}.ts` }
    : { command: "npm test" };
  const metadata = isRead
    ? { preview: text.slice(0, 500), display: { type: "file", text } }
    : { output: text, exit: 0 };
  return [
    { type: "step-start", snapshot: "0".repeat(40) },
    { type: "text", text: prose(step, 2) },
    {
      type: "tool",
      tool: isRead ? "read" : "bash",
      callID: `call_${step}`,
      state: { status: "completed", input, output: text, metadata },
    },
    { type: "step-finish", reason: "tool-calls", tokens: { total: 21_000 } },
  ];
}
