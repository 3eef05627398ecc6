/**
 * What opencode's database (seen in 1.18.33) says of the window: sessions, their messages, and the parts of each message. Sub-agents are sessions
 * with a parent. The system prompt and the tools are not in it. It is only read.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Environment } from "../../engine/project.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import { type Fields, object, parsed, text } from "../client-adapter.ts";
import {
  kindOfCommand,
  kindOfFile,
  type PartKind,
  type ReadProgress,
  type TranscriptReader,
  type TranscriptSink,
} from "../transcript.ts";
import { opencodeDatabase } from "./fill.ts";

export const opencodeTranscripts: TranscriptReader = {
  client: "opencode",
  hasFixed: false,
  absent: ["skill-listing", "instructions"],
  places: (env: Environment) => [opencodeDatabase(env)],
  matches: (path, head) => path.endsWith(".db") && head.startsWith("SQLite format 3"),
  read(path: string, sink: TranscriptSink, { bytes }: ReadProgress) {
    const db = new sqlite.DatabaseSync(path, { readOnly: true });
    try {
      readAll(db, sink, bytes);
    } finally {
      db.close();
    }
  },
};

/** One row per part. A message without parts has one row too. */
const ROWS = `SELECT m.id AS message_id, m.data AS message, m.time_created AS at, p.data AS part FROM message m
LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`;

function readAll(db: DatabaseSync, sink: TranscriptSink, bytes: (count: number) => void): void {
  const sessions = db.prepare("SELECT id, parent_id, directory FROM session ORDER BY time_created").all();
  const rows = db.prepare(ROWS);
  for (const { id, parent_id: parent, directory } of sessions) {
    const project = text(directory);
    sink.session({
      sessionId: String(parent ?? id),
      agentId: parent ? String(id) : "",
      ...(project && { project }),
    });
    const reading = new OpencodeReading(sink);
    for (const { message_id: messageId, message, at, part } of rows.iterate(id as string)) {
      bytes(String(message).length + String(part ?? "").length);
      reading.row(String(messageId), String(message), Number(at), part === null ? undefined : String(part));
    }
    sink.sessionEnd();
  }
}

/** What the client sends in place of outputs that it has removed. */
const CLEARED = "[Old tool result content cleared]";

class OpencodeReading {
  readonly #sink: TranscriptSink;
  readonly #ids: string[] = [];
  #messageId = "";
  #role = "";
  #isSummary = false;
  #summaryDue = false;

  constructor(sink: TranscriptSink) {
    this.#sink = sink;
  }

  row(messageId: string, message: string, at: number, part: string | undefined) {
    if (messageId !== this.#messageId) {
      this.#messageId = messageId;
      this.#ids.push(messageId);
      this.#sink.mark(messageId);
      this.#sink.time(at);
      this.#message(message);
    }
    if (part !== undefined) this.#part(part);
  }

  #message(json: string) {
    const { role, mode, summary, tokens } = parsed(json);
    if (role === undefined) return this.#sink.broken();
    this.#role = String(role);
    this.#isSummary = role === "assistant" && (mode === "compaction" || summary === true);
    if (role !== "assistant" || this.#isSummary) return;
    this.#sink.request();
    const { input, output, cache } = object(tokens);
    const cached = Number(object(cache)["read"]) || 0;
    const all = (Number(input) || 0) + cached + (Number(object(cache)["write"]) || 0);
    if (all > 0) this.#sink.usage({ input: all, cached, output: Number(output) || 0 });
  }

  #part(json: string) {
    const sink = this.#sink;
    const part = parsed(json);
    switch (part["type"]) {
      case "text":
        return this.#text(part);
      case "reasoning":
        return sink.add("answer", text(part["text"]) ?? "");
      case "tool":
        return this.#tool(part);
      case "file":
        return sink.add("read", text(object(object(part["source"])["text"])["value"]) ?? "", text(part["filename"]));
      case "compaction":
        return this.#compaction(part);
      case "step-start":
      case "step-finish":
      case "snapshot":
      case "patch":
      case "agent":
      case "subtask":
      case "retry":
        return sink.skipped();
      case undefined:
        return sink.broken();
      default:
        return sink.unknown(/^[\w-]{1,60}$/.test(String(part["type"])) ? `part ${part["type"]}` : "?");
    }
  }

  /** Messages from `tail_start_id` on stay in the window. */
  #compaction({ auto, tail_start_id: tail }: Fields) {
    this.#summaryDue = true;
    const from = this.#ids.indexOf(String(tail));
    const kept = from < 0 ? [] : this.#ids.slice(from);
    this.#ids.splice(0, from < 0 ? this.#ids.length : from);
    this.#sink.compaction({ trigger: auto === true ? "auto" : "manual", kept });
  }

  #text(part: Fields) {
    const words = text(part["text"]) ?? "";
    if (part["ignored"] === true) return this.#sink.skipped();
    if (this.#isSummary) {
      // A summary without a compaction mark before it comes from another version of the client. The window ends here.
      if (!this.#summaryDue) this.#sink.compaction({});
      this.#summaryDue = false;
      return this.#sink.add("summary", words);
    }
    if (this.#role === "assistant") return this.#sink.add("answer", words);
    this.#sink.add(part["synthetic"] === true ? "hook" : "prompt", words);
  }

  #tool(part: Fields) {
    const tool = String(part["tool"]);
    const { input, output, error, time } = object(part["state"]);
    const fields = object(input);
    this.#sink.add("answer", `${tool} ${JSON.stringify(fields)}`);
    if (tool === "write" || tool === "edit" || tool === "patch" || tool === "multiedit" || tool === "apply_patch")
      this.#sink.edit(text(fields["filePath"]) ?? "");
    const isCleared = object(time)["compacted"] !== undefined;
    const shown = isCleared ? CLEARED : (text(output) ?? text(error) ?? "");
    const about = text(fields["filePath"] ?? fields["command"] ?? fields["name"]) ?? "";
    const { kind, name } = kindOf(tool, about);
    this.#sink.add(kind, shown, name);
  }
}

const OWN_TOOLS = new Set([
  ..."bash read write edit multiedit patch apply_patch grep glob list ls task skill todowrite todoread".split(" "),
  ..."webfetch websearch codesearch lsp question invalid batch plan_exit plan_enter".split(" "),
]);

function kindOf(tool: string, about: string): { kind: PartKind; name?: string } {
  switch (tool) {
    case "read":
      return kindOfFile(about);
    case "bash":
      return kindOfCommand(about);
    case "skill":
    case "haversack_skill":
      return { kind: "skill-body", name: about };
    case "task":
      return { kind: "sub-agent", name: tool };
  }
  // Tools of MCP servers are named SERVER_TOOL.
  return OWN_TOOLS.has(tool) ? { kind: "tool", name: tool } : { kind: "mcp", name: tool };
}
