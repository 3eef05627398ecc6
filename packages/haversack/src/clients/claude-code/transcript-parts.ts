/**
 * Reads the window from Claude Code's transcripts (seen in 2.1.325): one file per session, and one per sub-agent. Attachments hold the text as
 * sent (`rendered`), `api-request-shape` the system prompt and tools. Request blobs and tool results for the screen repeat what other
 * records hold, and make up most of a file: they are skipped as bytes.
 */
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
import { claudeProjects } from "./transcripts.ts";

export const claudeTranscripts: TranscriptReader = {
  client: "claude-code",
  hasFixed: true,
  absent: [],
  places: (env: Environment) => [claudeProjects(env)],
  // A long first record has its session's ID after the part that was read.
  matches: (path, head) =>
    path.endsWith(".jsonl") &&
    (/^\{"(?:parentUuid|isSidechain)":/.test(head) ||
      (/^\{"(?:type|leafUuid|uuid)":"/.test(head) && /"(?:sessionId|leafUuid)":"/.test(head))),
  read(path: string, sink: TranscriptSink, { bytes }: ReadProgress) {
    const reading = new ClaudeReading(path, sink);
    const { tooLong } = readFileLines(path, (line) => reading.line(line), { onBytes: bytes });
    for (let count = 0; count < tooLong; count++) sink.broken();
  },
};

/** Lines that begin like this hold nothing of the window, or repeat other lines. */
const SKIPPED = [
  "api-request-blob",
  "api-request",
  "queue-operation",
  "last-prompt",
  "atis-latch",
  "tools-used",
  "cost-state",
  "file-history-snapshot",
  "file-history-delta",
  "summary",
  "custom-title",
  "ai-title",
  "agent-name",
  "tag",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
].map((type) => Buffer.from(`{"type":"${type}"`));
const SHAPE = Buffer.from('{"type":"api-request-shape"');
const ATTACHMENT = Buffer.from(',"attachment":{"type":"');
const FOR_SCREEN = Buffer.from(',"toolUseResult":');
const HEAD_BYTES = 400;
/** Attachments that hold no text for the model. */
const SILENT = new Set([
  "hook_success",
  "prompt_snapshot",
  "command_permissions",
  "deferred_tools_record",
  "hook_non_blocking_error",
  "hook_cancelled",
  "hook_system_message",
]);

interface Call {
  name: string;
  about: string;
}

class ClaudeReading {
  readonly #sink: TranscriptSink;
  readonly #agentId: string;
  readonly #calls = new Map<string, Call>();
  #session = "";
  #shape = "";
  #lastAnswer = "";

  constructor(path: string, sink: TranscriptSink) {
    this.#sink = sink;
    this.#agentId = /\/agent-(\w+)\.jsonl$/.exec(path)?.[1] ?? "";
  }

  line(bytes: Buffer) {
    const sink = this.#sink;
    if (SKIPPED.some((start) => startsWith(bytes, start))) return sink.skipped();
    const head = bytes.toString("latin1", 0, HEAD_BYTES);
    if (startsWith(bytes, SHAPE)) return this.#fixed(bytes, head);
    const attached = bytes.subarray(0, HEAD_BYTES).indexOf(ATTACHMENT);
    if (attached >= 0) {
      const from = attached + ATTACHMENT.length;
      const kind = head.slice(from, head.indexOf('"', from));
      if (kind === "prompt_snapshot" && this.#shape === "") return this.#snapshot(bytes);
      if (SILENT.has(kind)) return sink.skipped();
    }
    const record = this.#parse(bytes);
    if (!record) return sink.broken();
    this.#record(record);
  }

  /** The line without the copy of a tool's result for the screen. The key cannot match inside a string, where its quotes are escaped. */
  #parse(bytes: Buffer): Fields | undefined {
    const cut = bytes.indexOf(FOR_SCREEN);
    // The message comes first. The fields after the copy are found by name.
    const json = cut < 0 ? bytes.toString("utf8") : `${bytes.toString("utf8", 0, cut)}}`;
    try {
      const record = object(JSON.parse(json));
      if (cut < 0) return record;
      const tail = bytes.toString("latin1", Math.max(cut, bytes.length - 2_000));
      for (const name of ["timestamp", "cwd", "sessionId", "uuid", "agentId"]) {
        const [, value] = new RegExp(`,"${name}":"([^"\\\\]*)"[,}]`).exec(tail) ?? [];
        if (value !== undefined) record[name] ??= value;
      }
      return record;
    } catch {
      return undefined;
    }
  }

  #fixed(bytes: Buffer, head: string) {
    const [, hash = ""] = /"shapeHash":"(\w+)"/.exec(head) ?? [];
    if (hash !== "" && hash === this.#shape) return this.#sink.skipped();
    const record = this.#parse(bytes);
    if (!record) return this.#sink.broken();
    this.#shape = hash || "unnamed";
    this.#enter(record);
    const { system, tools } = object(record["shape"]);
    this.#sink.fixed([textsOf(system), ...listOf(tools).map((tool) => JSON.stringify(tool))].join("\n"));
  }

  /** For versions that do not write the shape of requests. */
  #snapshot(bytes: Buffer) {
    const record = this.#parse(bytes);
    if (!record) return this.#sink.broken();
    const { systemPrompt, tools } = object(record["attachment"]);
    if (!Array.isArray(tools)) return this.#sink.skipped();
    this.#enter(record);
    const schemas = tools.map((tool) => JSON.stringify(object(tool)["schema"] ?? tool));
    this.#sink.fixed([textsOf(systemPrompt), ...schemas].join("\n"));
  }

  #enter(record: Fields) {
    const { timestamp, sessionId, cwd, isSidechain, agentId } = record;
    // Older versions write sub-agents to the main agent's file.
    const agent = isSidechain === true && this.#agentId === "" ? (text(agentId) ?? "sidechain") : this.#agentId;
    const key = `${String(sessionId)} ${agent}`;
    if (text(sessionId) && key !== this.#session) {
      this.#session = key;
      const project = text(cwd);
      this.#sink.session({ sessionId: String(sessionId), agentId: agent, ...(project && { project }) });
    }
    if (typeof timestamp === "string") this.#sink.time(timestamp);
  }

  #record(record: Fields) {
    const sink = this.#sink;
    const type = String(record["type"]);
    if (type !== "user" && type !== "assistant" && type !== "attachment" && type !== "system") {
      return /^[\w-]{1,60}$/.test(type) ? sink.unknown(type) : sink.unknown("?");
    }
    this.#enter(record);
    if (text(record["uuid"])) sink.mark(String(record["uuid"]));
    if (type === "user") return this.#user(record);
    if (type === "assistant") return this.#answer(record);
    if (type === "attachment") return this.#attachment(record);
    if (record["subtype"] === "compact_boundary") return this.#compaction(object(record["compactMetadata"]));
    sink.skipped();
  }

  #compaction(about: Fields) {
    const { allUuids, uuids } = object(about["preservedMessages"]);
    const trigger = text(about["trigger"]);
    const kept = listOf(allUuids ?? uuids).map(String);
    this.#sink.compaction({ ...(trigger && { trigger }), kept });
  }

  #user(record: Fields) {
    const { content } = object(record["message"]);
    const isMeta = record["isMeta"] === true;
    if (typeof content === "string") {
      if (record["isCompactSummary"] === true) return this.#sink.add("summary", content);
      return this.#prompt(content, isMeta);
    }
    for (const block of listOf(content).map(object)) {
      if (block["type"] === "tool_result") this.#result(block);
      else if (block["type"] === "text") this.#prompt(text(block["text"]) ?? "", isMeta);
      else if (block["type"] === "image" || block["type"] === "document") this.#sink.unknown(`${block["type"]} block`);
    }
  }

  #prompt(prompt: string, isMeta: boolean) {
    if (prompt.startsWith("<task-notification>")) return this.#sink.add("sub-agent", prompt);
    const [, skill] = isMeta ? (/^Base directory for this skill: \S*?([\w.:-]+)\s/.exec(prompt) ?? []) : [];
    if (skill) return this.#sink.add("skill-body", prompt, skill);
    if (isMeta || /^<(?:command-name|local-command|bash-)/.test(prompt)) return this.#sink.add("tool", prompt);
    this.#sink.add("prompt", prompt);
  }

  #answer(record: Fields) {
    const message = object(record["message"]);
    if (record["isApiErrorMessage"] === true || message["model"] === "<synthetic>") return this.#sink.skipped();
    const id = String(message["id"]);
    if (id !== this.#lastAnswer) {
      this.#lastAnswer = id;
      this.#sink.request();
      const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = object(
        message["usage"],
      );
      const cached = count(cache_read_input_tokens);
      const input = count(input_tokens) + cached + count(cache_creation_input_tokens);
      this.#sink.usage({ input, cached, output: count(output_tokens) });
    }
    for (const block of listOf(message["content"]).map(object)) this.#block(block);
  }

  #block(block: Fields) {
    const { type, name, input, id } = block;
    if (type === "text") return this.#sink.add("answer", text(block["text"]) ?? "");
    if (type === "thinking") return this.#sink.add("answer", text(block["thinking"]) ?? "");
    if (type !== "tool_use") return;
    const tool = String(name);
    const fields = object(input);
    this.#sink.add("answer", `${tool} ${JSON.stringify(fields)}`);
    this.#calls.set(String(id), { name: tool, about: aboutOf(fields) });
    if (EDITS.has(tool)) this.#sink.edit(aboutOf(fields));
  }

  #result(block: Fields) {
    const id = String(block["tool_use_id"]);
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const shown = textsOf(block["content"]);
    const { kind, name } = kindOf(call, shown);
    this.#sink.add(kind, shown, name);
  }

  #attachment(record: Fields) {
    const attachment = object(record["attachment"]);
    const kind = String(attachment["type"]);
    const { rendered } = record;
    const shown = listOf(rendered)
      .map((one) => textsOf(object(one)["content"]))
      .join("\n");
    const part = ATTACHED[kind];
    if (shown === "") {
      // For versions that do not write the text as sent.
      const own = textsOf(attachment["content"]) || (text(attachment["text"]) ?? "");
      if (part && own !== "") return this.#sink.add(part, own);
      return this.#sink.skipped();
    }
    if (kind === "queued_command") {
      const isAgent = shown.includes("<task-notification>") || shown.includes("automated background");
      return this.#sink.add(isAgent ? "sub-agent" : "prompt", shown);
    }
    if (kind === "file" || kind === "edited_text_file" || kind === "compact_file_reference") {
      const name = text(attachment["filename"]) ?? text(object(object(attachment["content"])["file"])["filePath"]);
      return this.#sink.add("read", shown, name);
    }
    this.#sink.add(part ?? "system", shown);
  }
}

const ATTACHED: Readonly<Record<string, PartKind>> = {
  skill_listing: "skill-listing",
  dynamic_skill: "skill-listing",
  invoked_skills: "skill-body",
  instructions: "instructions",
  nested_memory: "instructions",
  hook_additional_context: "hook",
  hook_blocking_error: "hook",
  task_status: "sub-agent",
  unified_tasks: "sub-agent",
};

const EDITS = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
const SHELLS = new Set(["Bash", "BashOutput", "TaskOutput", "Monitor", "PowerShell"]);

/** The name of a result: its file, command or skill. */
function aboutOf(input: Fields): string {
  const given = input["file_path"] ?? input["notebook_path"] ?? input["command"] ?? input["skill"] ?? input["name"];
  return text(given) ?? "";
}

function kindOf(call: Call | undefined, shown: string): { kind: PartKind; name?: string } {
  if (!call) return { kind: "tool" };
  const { name, about } = call;
  if (name === "Read") return kindOfFile(about);
  if (SHELLS.has(name)) return kindOfCommand(about);
  if (name === "Agent" || name === "Task") return { kind: "sub-agent", name };
  if (name === "Skill") return { kind: shown.length > 300 ? "skill-body" : "tool", name: about };
  if (!name.startsWith("mcp__")) return { kind: "tool", name };
  return /haversack.*__skill$/.test(name) ? { kind: "skill-body", name: about } : { kind: "mcp", name };
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}
