/**
 * Reads the window from Codex's rollout files (seen in 0.166.0): `response_item` is what is sent, `compacted` holds the history that replaces
 * it. The tools are in no file. Events for the screen repeat the items: they are skipped as bytes.
 */
import { dirname, join } from "node:path";
import { readFileLines } from "../../base/file-lines.ts";
import type { Environment } from "../../engine/project.ts";
import { type Fields, object, parsed, text } from "../client-adapter.ts";
import {
  kindOfCommand,
  type PartKind,
  type ReadProgress,
  type TranscriptReader,
  type TranscriptSink,
  textsOf,
} from "../transcript.ts";
import { codexSessions } from "./rollout.ts";

export const codexRollouts: TranscriptReader = {
  client: "codex",
  hasFixed: false,
  absent: [],
  places: (env: Environment) => [codexSessions(env), join(dirname(codexSessions(env)), "archived_sessions")],
  matches: (path, head) =>
    path.endsWith(".jsonl") && /^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"\w+","payload":/.test(head),
  read(path: string, sink: TranscriptSink, { bytes }: ReadProgress) {
    const reading = new CodexReading(sink);
    const { tooLong } = readFileLines(path, (line) => reading.line(line), { onBytes: bytes });
    for (let count = 0; count < tooLong; count++) sink.broken();
  },
};

const HEAD_BYTES = 200;
const TYPE = /^\{"timestamp":"([^"]*)",(?:"ordinal":\d+,)?"type":"(\w+)","payload":\{(?:"type":"(\w+)")?/;

interface Call {
  name: string;
  command: string;
}

class CodexReading {
  readonly #sink: TranscriptSink;
  readonly #calls = new Map<string, Call>();
  /** The model is answering: all parts of its answer belong to one request. */
  #isAnswering = false;
  #hasUsageRecords = false;

  constructor(sink: TranscriptSink) {
    this.#sink = sink;
  }

  line(bytes: Buffer) {
    const sink = this.#sink;
    const [, time, type = "", inner = ""] = TYPE.exec(bytes.toString("latin1", 0, HEAD_BYTES)) ?? [];
    if (time) sink.time(time);
    switch (type) {
      case "event_msg":
        if (inner !== "token_count" || this.#hasUsageRecords) return sink.skipped();
        return this.#parsed(bytes, (payload) => this.#usage(object(object(payload["info"])["last_token_usage"])));
      case "token_usage_record":
        this.#hasUsageRecords = true;
        return this.#parsed(bytes, (payload) => this.#usage(object(payload["usage"])));
      case "response_item":
        return this.#parsed(bytes, (item) => this.#item(item));
      case "compacted":
        return this.#parsed(bytes, (payload) => this.#compacted(payload));
      case "session_meta":
        return this.#parsed(bytes, (meta) => this.#meta(meta));
      case "turn_context":
      case "world_state":
        return sink.skipped();
      default:
        return this.#parsed(bytes, (_, record) => {
          const kind = String(record["type"]);
          sink.unknown(/^[\w-]{1,60}$/.test(kind) ? kind : "?");
        });
    }
  }

  #parsed(bytes: Buffer, read: (payload: Fields, record: Fields) => void) {
    let record: unknown;
    try {
      record = JSON.parse(bytes.toString("utf8"));
    } catch {
      return this.#sink.broken();
    }
    read(object(object(record)["payload"]), object(record));
  }

  #meta(meta: Fields) {
    const { id, session_id, cwd, base_instructions, instructions, parent_thread_id } = meta;
    const isAgent = text(parent_thread_id) !== undefined || object(meta["source"])["subagent"] !== undefined;
    const own = String(id);
    const project = text(cwd);
    this.#sink.session({
      sessionId: isAgent ? (text(session_id) ?? own) : own,
      agentId: isAgent ? own : "",
      ...(project && { project }),
    });
    const prompt = text(object(base_instructions)["text"]) ?? text(instructions);
    if (prompt) this.#sink.fixed(prompt);
  }

  #usage(usage: Fields) {
    const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = usage;
    if (typeof input !== "number" || input <= 0) return;
    this.#isAnswering = false;
    this.#sink.usage({ input, cached: Number(cached) || 0, output: Number(output) || 0 });
  }

  #compacted({ message, replacement_history: history }: Fields) {
    this.#sink.compaction({ trigger: "auto", isRetold: true });
    this.#isAnswering = false;
    if (!Array.isArray(history)) this.#sink.add("summary", text(message) ?? "");
    else for (const item of history) this.#kept(object(item), message);
    this.#sink.retold();
  }

  #kept(item: Fields, summary: unknown) {
    const words = textsOf(item["content"]);
    if (item["type"] === "message" && words !== "" && words === summary) this.#sink.add("summary", words);
    else this.#content(item);
  }

  #item(item: Fields) {
    const { type, role } = item;
    const isAnswer =
      type === "reasoning" || String(type).endsWith("_call") || (type === "message" && role === "assistant");
    if (isAnswer && !this.#isAnswering) this.#sink.request();
    this.#isAnswering = isAnswer;
    this.#content(item);
  }

  #content(item: Fields) {
    const sink = this.#sink;
    const { type, role, name, namespace, arguments: given, input, call_id: id } = item;
    switch (type) {
      case "message":
        return role === "assistant" ? sink.add("answer", textsOf(item["content"])) : this.#message(item);
      case "reasoning":
        // Encrypted reasoning is sent again, but its text is unknown.
        return sink.add("answer", textsOf(item["content"]) || textsOf(item["summary"]));
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call": {
        const tool = `${text(namespace) ? `${namespace}__` : ""}${text(name) ?? "shell"}`;
        const words = text(given) ?? text(input) ?? JSON.stringify(item["action"] ?? "");
        sink.add("answer", `${tool} ${words}`);
        this.#calls.set(String(id), { name: tool, command: commandIn(tool, words) });
        if (isEdit(tool, words)) sink.edit(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/m.exec(words)?.[1] ?? "");
        return;
      }
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#output(String(id), item["output"]);
      default:
        return sink.unknown(`item ${/^[\w-]{1,60}$/.test(String(type)) ? type : "?"}`);
    }
  }

  #output(id: string, output: unknown) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const shown = textsOf(output) || textsOf(object(output)["content"]);
    const { kind, name } = kindOf(call);
    this.#sink.add(kind, shown, name, kind === "read" ? withoutHeader(shown) : undefined);
  }

  /** The client's own texts for the model are developer and user messages with several parts. */
  #message({ content, internal_chat_message_metadata_passthrough: about }: Fields) {
    const kinds = object(about)["content_item_kinds"];
    const parts = Array.isArray(content) ? content : [content];
    parts.forEach((part, place) => {
      const words = typeof part === "string" ? part : (text(object(part)["text"]) ?? "");
      const kind = Array.isArray(kinds) ? String(kinds[place] ?? kinds[0]) : "";
      this.#sink.add(messageKind(words, kind), words);
    });
  }
}

function messageKind(words: string, kind: string): PartKind {
  if (kind === "hooks.additional_context") return "hook";
  if (words.startsWith("<skills_instructions>")) return "skill-listing";
  if (words.startsWith("# AGENTS.md instructions") || words.startsWith("<user_instructions>")) return "instructions";
  if (words.startsWith("<subagent_notification>")) return "sub-agent";
  if (words.startsWith("<skill>")) return "skill-body";
  if (words.startsWith("Another language model started to solve this problem")) return "summary";
  if (/^<[a-z_]+(?: [a-z_]+)?>/.test(words)) return "system";
  return "prompt";
}

function commandIn(tool: string, words: string): string {
  if (!SHELLS.has(tool)) return tool.endsWith("__skill") ? (text(parsed(words)["name"]) ?? "") : "";
  const { cmd, command } = parsed(words);
  const given = cmd ?? command;
  return Array.isArray(given) ? String(given.at(-1)) : (text(given) ?? "");
}

const SHELLS = new Set(["exec_command", "shell", "shell_command", "local_shell", "container.exec", "write_stdin"]);

function kindOf(call: Call | undefined): { kind: PartKind; name?: string } {
  if (!call) return { kind: "tool" };
  const { name, command } = call;
  if (SHELLS.has(name)) return kindOfCommand(command);
  if (/haversack__skill$/.test(name)) return { kind: "skill-body", name: command };
  if (name.startsWith("mcp__")) return { kind: "mcp", name };
  return /wait_agent|wait$|spawn_agent|collab/.test(name) ? { kind: "sub-agent", name } : { kind: "tool", name };
}

/** A command's output begins with lines about the run, such as how long it took. */
function withoutHeader(shown: string): string {
  const at = shown.indexOf("\nOutput:\n");
  return at >= 0 && at < 400 ? shown.slice(at) : shown;
}

/** Patches are a tool of their own, or a shell command. */
function isEdit(tool: string, words: string): boolean {
  return tool === "apply_patch" || words.includes("*** Begin Patch");
}
