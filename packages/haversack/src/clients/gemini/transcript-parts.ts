/**
 * Reads the window from Gemini CLI's transcripts (seen in 0.61.0). A changed message is written again with the same ID, and the whole
 * history (`$set`) when a session is resumed or compacted. Not in the file: the system prompt, the tools, the listing of skills and the context
 * that hooks add.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readFileLines } from "../../base/file-lines.ts";
import type { Environment } from "../../engine/project.ts";
import { type Fields, object, text } from "../client-adapter.ts";
import {
  kindOfCommand,
  kindOfFile,
  type PartKind,
  type ReadProgress,
  type TranscriptReader,
  type TranscriptSink,
  textsOf,
} from "../transcript.ts";
import { geminiChats } from "./transcript.ts";

export const geminiTranscripts: TranscriptReader = {
  client: "gemini",
  hasFixed: false,
  absent: ["skill-listing", "hook"],
  places: (env: Environment) => [geminiChats(env)],
  matches: (path, head) => path.endsWith(".jsonl") && /^\{"sessionId":"[^"]*","projectHash":/.test(head),
  read(path: string, sink: TranscriptSink, { bytes }: ReadProgress) {
    const reading = new GeminiReading(path, sink);
    const { tooLong } = readFileLines(path, (line) => reading.line(line), { onBytes: bytes });
    for (let count = 0; count < tooLong; count++) sink.broken();
    reading.end();
  },
};

/** Short lines that only say when the file changed. */
const ONLY_TIME = Buffer.from('{"$set":{"lastUpdated":');
const SUMMARY = "<state_snapshot>";

class GeminiReading {
  readonly #sink: TranscriptSink;
  readonly #path: string;
  /** Results seen so far only in the message with their calls. */
  readonly #results = new Map<string, Fields>();
  /** The file or command of each call, by its ID. */
  readonly #about = new Map<string, string>();
  #answerId = "";
  #toldCalls = new Set<string>();
  #hasContent = false;

  constructor(path: string, sink: TranscriptSink) {
    this.#path = path;
    this.#sink = sink;
  }

  line(bytes: Buffer) {
    const sink = this.#sink;
    if (bytes.length < 100 && bytes.compare(ONLY_TIME, 0, ONLY_TIME.length, 0, ONLY_TIME.length) === 0)
      return sink.skipped();
    let record: Fields;
    try {
      record = object(JSON.parse(bytes.toString("utf8")));
    } catch {
      return sink.broken();
    }
    const { $set: set, type, timestamp, startTime, sessionId } = record;
    if (typeof timestamp === "string") sink.time(timestamp);
    if (set !== undefined) return this.#set(object(set));
    if (text(sessionId) && record["projectHash"] !== undefined) {
      this.#enter(record);
      if (typeof startTime === "string") sink.time(startTime);
      return;
    }
    if (type === "user") return this.#user(record);
    if (type === "gemini") return this.#answer(record);
    if (type === "info" || type === "error" || type === "warning") return sink.skipped();
    sink.unknown(/^[\w-]{1,60}$/.test(String(type)) ? String(type) : "?");
  }

  end() {
    this.#settle();
  }

  #enter({ sessionId, kind }: Fields) {
    // A sub-agent's file is in a folder named after its session.
    const isAgent = kind === "subagent";
    const own = String(sessionId);
    const project = projectOf(this.#path, isAgent);
    this.#sink.session({
      sessionId: isAgent ? (this.#path.split("/").at(-2) ?? own) : own,
      agentId: isAgent ? own : "",
      ...(project && { project }),
    });
  }

  /** The whole history: after a compaction with its summary, otherwise when a session begins or resumes. */
  #set({ messages }: Fields) {
    if (!Array.isArray(messages)) return this.#sink.skipped();
    const list = messages.map(object);
    const isCompaction = this.#hasContent && list.some((message) => textsOf(message["content"]).startsWith(SUMMARY));
    this.#results.clear();
    if (isCompaction) this.#sink.compaction({ trigger: "auto", isRetold: true });
    else this.#sink.restart();
    for (const message of list) {
      if (message["type"] === "user") this.#user(message);
      else if (message["type"] === "gemini") this.#said(message);
    }
    this.#sink.retold();
    this.#answerId = "";
    // The file continues with the last message of the history.
    this.#lastOfHistory = lastResponses(list);
  }

  /** Results at the end of a rewritten history. The client writes them again as a separate message. */
  #lastOfHistory = new Set<string>();

  #user({ content }: Fields) {
    this.#hasContent = true;
    for (const part of partsOf(content)) {
      const response = object(part["functionResponse"]);
      if (part["functionResponse"] !== undefined) {
        const id = String(response["id"]);
        this.#results.delete(id);
        if (this.#lastOfHistory.delete(id)) continue;
        this.#response(response);
      } else if (typeof part["text"] === "string") this.#sink.add(userKind(part["text"]), part["text"]);
    }
  }

  #answer(record: Fields) {
    const { id, tokens, content, toolCalls } = record;
    if (id !== this.#answerId) {
      this.#settle();
      this.#answerId = String(id);
      this.#toldCalls = new Set();
      this.#sink.request();
      const { input, cached, output, thoughts } = object(tokens);
      if (typeof input === "number" && input > 0) {
        this.#sink.usage({
          input,
          cached: Number(cached) || 0,
          output: (Number(output) || 0) + (Number(thoughts) || 0),
        });
      }
      this.#sink.add("answer", textsOf(content));
    }
    for (const call of Array.isArray(toolCalls) ? toolCalls.map(object) : []) {
      const callId = String(call["id"]);
      if (this.#toldCalls.has(callId)) continue;
      this.#toldCalls.add(callId);
      this.#call(callId, String(call["name"]), object(call["args"]));
      const [result] = partsOf(call["result"]);
      if (result) this.#results.set(callId, object(result["functionResponse"]));
    }
  }

  /** A message of a rewritten history. Its calls are in the content. */
  #said({ content }: Fields) {
    for (const part of partsOf(content)) {
      const { id, name, args } = object(part["functionCall"]);
      if (part["functionCall"] !== undefined) this.#call(String(id), String(name), object(args));
      else if (typeof part["text"] === "string") this.#sink.add("answer", part["text"]);
    }
    if (typeof content === "string") this.#sink.add("answer", content);
  }

  #call(id: string, name: string, args: Fields) {
    this.#hasContent = true;
    const about = args["file_path"] ?? args["absolute_path"] ?? args["command"] ?? args["name"];
    this.#about.set(id, text(about) ?? "");
    this.#sink.add("answer", `${name} ${JSON.stringify(args)}`);
    if (name === "write_file" || name === "replace" || name === "edit") this.#sink.edit(text(about) ?? "");
  }

  /** For versions that write no message with the results. */
  #settle() {
    for (const result of this.#results.values()) this.#response(result);
    this.#results.clear();
  }

  #response({ id, name, response }: Fields) {
    const { output, error } = object(response);
    const shown = text(output) ?? text(error) ?? JSON.stringify(response ?? "");
    const about = this.#about.get(String(id)) ?? "";
    const { kind, name: named } = kindOf(String(name), about);
    this.#sink.add(kind, shown, named);
  }
}

function lastResponses(messages: readonly Fields[]): Set<string> {
  const parts = partsOf(messages.at(-1)?.["content"]);
  return new Set(
    parts.flatMap((part) => (part["functionResponse"] ? [String(object(part["functionResponse"])["id"])] : [])),
  );
}

function partsOf(content: unknown): Fields[] {
  if (typeof content === "string") return [{ text: content }];
  return Array.isArray(content) ? content.map(object) : [];
}

function userKind(words: string): PartKind {
  if (words.startsWith(SUMMARY)) return "summary";
  if (words.includes("<hook_context>")) return "hook";
  if (words.startsWith("<session_context>") || words.trimStart().startsWith("<loaded_context>")) return "instructions";
  return "prompt";
}

function kindOf(tool: string, about: string): { kind: PartKind; name?: string } {
  switch (tool) {
    case "read_file":
    case "read_many_files":
      return kindOfFile(about);
    case "run_shell_command":
      return kindOfCommand(about);
    case "activate_skill":
      return { kind: "skill-body", name: about };
    case "invoke_agent":
      return { kind: "sub-agent", name: about };
  }
  if (/^mcp_haversack_skill$|^skill$/.test(tool)) return { kind: "skill-body", name: about };
  return tool.startsWith("mcp_") ? { kind: "mcp", name: tool } : { kind: "tool", name: tool };
}

/** The client stores the project's folder beside its chats. */
function projectOf(path: string, isAgent: boolean): string | undefined {
  const chats = dirname(isAgent ? dirname(path) : path);
  try {
    return readFileSync(join(dirname(chats), ".project_root"), "utf8").trim() || undefined;
  } catch {
    // Older versions name the folder after a hash of the project's path, or the file was copied elsewhere.
    return undefined;
  }
}
