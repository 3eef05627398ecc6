/**
 * The plugin that runs inside opencode (1.18.33). It passes the client's hooks to the engine and returns text and refusals, without a process per
 * event.
 *
 * Text reaches the model in three ways: as a part after the prompt (`chat.message`, sub-agents too), after a tool's result (`tool.execute.after`),
 * and as a stored message of its own after a compaction, before the client continues. The system prompt stays unchanged: a change there would
 * invalidate the client's whole cached prefix.
 */
import { type CallKey, callKey, noteOfCall } from "../../engine/call-key.ts";
import type { ClientEvent, EventAnswer, EventBase } from "../../engine/events/client-event.ts";
import { SESSION_VARIABLE, sessionVariable } from "../../engine/work/actor.ts";
import { object, text } from "../client-adapter.ts";
import type { Config, PluginHooks, PluginInput, TextPart } from "./client-api.ts";
import { Guard, Refusal } from "./guard.ts";
import { isSkillDenied, type Permission } from "./own-config.ts";
import { opencodeProfile, SERVER_PREFIX } from "./profile.ts";
import {
  isLong,
  readOpencodeObservation,
  readOpencodeOutput,
  readOpencodeTool,
  readStartedAgent,
  replaceOpencodeOutput,
} from "./tool-event.ts";

interface PluginParts {
  engine: HookEngine;
  /** What the client gets without a file: our MCP server, `/work` and its agents, rules for deferred skills. */
  addTo(config: Config): void;
}

/** How long the client may take to answer our requests. */
const ASK_MS = 500;
/** How often, and how long each time, a call waits for an identical one. */
const MOST_WAITS = 50;
const WAIT_MS = 20;
/** Limit of calls that have not started their sub-agent yet. */
const MAX_SPAWNING = 100;

export function haversackPlugin(
  { directory, client }: PluginInput,
  { engine, addTo }: PluginParts,
): Partial<PluginHooks> {
  const guard = new Guard({ log: (level, line) => engine.log(level, line) });
  /** The client's permission settings, including ours; known after startup. */
  let permission: Permission;
  const profile = opencodeProfile((name) => isSkillDenied(permission, name));
  const tree = new SessionTree(async (id) => {
    const answer = await within(ASK_MS, client.session.get({ path: { id } }));
    return answer?.data && (answer.data.parentID ?? "");
  });
  /** Sessions whose prompts this process has seen. */
  const started = new Set<string>();
  const created = new Set<string>();
  /** Created sessions that are forks. Only their title says so. */
  const forks = new Set<string>();
  /** Compacted sessions that have not been given their packet yet. */
  const compacted = new Set<string>();
  /** Calls that start a sub-agent, with the packet for it. The key is the prompt, the only thing that call and sub-agent share. */
  const spawning = new Map<string, (Starter & { packet: string })[]>();
  /** The call that started a sub-agent, by the sub-agent's session. */
  const starters = new Map<string, Starter>();
  /** Text to append to a tool's result, by call. */
  const behindResult = new Map<string, string>();

  const baseOf = async (id: string): Promise<EventBase> => ({
    client: profile,
    cwd: directory,
    ...(await tree.place(id)),
  });
  const tell = (event: ClientEvent): EventAnswer => guard.call(event.kind, () => engine.answer(event)) ?? {};
  const isAwaited = (base: EventBase, call: CallKey): boolean =>
    guard.call("call", () => engine.isCallAwaited(base, call)) ?? false;
  /** The text for the start of a session, or for its continuation after a compaction. */
  const opening = (
    id: string,
    base: EventBase,
    { agentType, call, forkedFrom }: { agentType: string; call?: Starter; forkedFrom?: string | undefined },
  ): string => {
    const isFirst = !started.has(id);
    started.add(id);
    const wasCompacted = compacted.delete(id);
    if (base.agentId !== "" && isFirst) {
      return tell({ ...base, kind: "agent-start", agentType, startedBy: () => call?.callId }).context ?? "";
    }
    if (wasCompacted) return tell({ ...base, kind: "session-start", source: "compact" }).context ?? "";
    if (!isFirst || base.agentId !== "") return "";
    const source = forks.has(id) ? "fork" : created.has(id) ? "startup" : "resume";
    return tell({ ...base, kind: "session-start", source, forkedFrom: () => forkedFrom }).context ?? "";
  };
  let isNoticed = false;
  /** Shown once per start of the client. */
  const noticePerson = async (): Promise<void> => {
    if (isNoticed) return;
    isNoticed = true;
    const message = guard.call("notice", () => engine.notice());
    if (!message || !client.tui) return;
    await within(ASK_MS, client.tui.showToast({ body: { title: "Haversack", message, variant: "warning" } }));
  };
  const times = async (id: string): Promise<unknown[]> => {
    const answer = await within(ASK_MS, client.session.messages({ path: { id } }));
    return (answer?.data ?? []).map(({ info }) => info?.time?.created);
  };
  /** The client does not say where a fork came from. Copied messages keep their times, so the origin is the session that shares most of them. */
  const originOf = async (id: string): Promise<string | undefined> => {
    const holders = (guard.call("holders", () => engine.holders()) ?? []).filter((holder) => holder !== id);
    const own = holders.length > 0 ? await times(id) : [];
    let [origin, most]: [string | undefined, number] = [undefined, 0];
    for (const holder of own.length > 0 ? holders : []) {
      const shared = sharedStart(own, await times(holder));
      if (shared > most) [origin, most] = [holder, shared];
    }
    return origin;
  };

  return {
    config: guard.hook("config", async (config) => {
      addTo(config);
      permission = config.permission;
    }),

    event: guard.hook("event", async ({ event: { type, properties } }) => {
      const { sessionID, info } = object(properties);
      const id = text(sessionID);
      if (!id) return;
      if (type === "session.created") {
        created.add(id);
        if (/ \(fork #\d+\)$/.test(text(object(info)["title"]) ?? "")) forks.add(id);
        tree.note(id, text(object(info)["parentID"]));
      } else if (type === "session.compacted" && !compacted.delete(`${id} told`)) {
        compacted.add(id);
      } else if (type === "session.deleted") {
        tell({ ...(await baseOf(id)), kind: "session-end" });
      }
    }),

    "chat.message": guard.hook("chat.message", async ({ sessionID, agent }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic && part.text);
      // Our own packet and texts that the client adds arrive here too.
      if (typed.length === 0) return;
      const prompt = typed.map((part) => part.text).join("\n");
      await noticePerson();
      const base = await baseOf(sessionID);
      const call = base.agentId === "" ? undefined : takeFirst(spawning, prompt);
      const forkedFrom = forks.has(sessionID) && !started.has(sessionID) ? await originOf(sessionID) : undefined;
      const texts = [opening(sessionID, base, { agentType: agent ?? "", forkedFrom, ...(call && { call }) })];
      if (call) {
        starters.set(sessionID, call);
        texts.push(call.packet);
      }
      const messages = { which: "all" as const, event: "UserPromptSubmit" };
      texts.push(tell({ ...base, kind: "prompt", prompt, promptId: message.id, messages }).context ?? "");
      addPart(parts, texts.filter(Boolean).join("\n\n"));
    }),

    "tool.execute.before": guard.hook("tool.execute.before", async ({ tool, sessionID, callID }, { args }) => {
      const base = await baseOf(sessionID);
      if (tool === "task") {
        const prompt = text(args["prompt"]);
        if (!prompt) return;
        const agentType = text(args["subagent_type"]) ?? "";
        const answer = tell({
          ...base,
          kind: "before-spawn",
          toolUseId: callID,
          agentType,
          prompt,
          isPromptReported: true,
          receipts: "named",
        });
        // Kept out of the call itself: there it would stay in the coordinator's window.
        const packet = answer.prompt?.startsWith(prompt) ? answer.prompt.slice(prompt.length).trim() : "";
        spawning.set(prompt, [...(spawning.get(prompt) ?? []), { callId: callID, agentType, packet }]);
        // A call that is refused or fails starts no sub-agent, and no event says so.
        if (spawning.size > MAX_SPAWNING) spawning.delete(spawning.keys().next().value!);
        return;
      }
      const isOwnTool = tool.startsWith(SERVER_PREFIX);
      const call = isOwnTool ? callKey(tool.slice(SERVER_PREFIX.length), args) : undefined;
      // The server identifies a call by tool and arguments, so the second of two identical calls waits until the server has seen the first.
      for (let left = MOST_WAITS; call && left > 0 && isAwaited(base, call); left--) await pause(WAIT_MS);
      const path = tool === "write" || tool === "edit" ? text(args["filePath"]) : undefined;
      if (!isOwnTool && !path) return;
      const answer = tell({
        ...base,
        kind: "before-tool",
        toolName: tool,
        toolUseId: call ? noteOfCall(call, callID) : callID,
        isOwnTool,
        ...(path && { path }),
      });
      if (answer.deny) throw new Refusal(answer.deny);
      if (answer.context) behindResult.set(callID, answer.context);
    }),

    "tool.execute.after": guard.hook("tool.execute.after", async ({ tool, sessionID, callID, args }, output) => {
      const base = await baseOf(sessionID);
      const behind = behindResult.get(callID);
      behindResult.delete(callID);
      if (tool === "task") {
        const agent = readStartedAgent(output);
        if (!agent) return;
        const { childId, isDone, answer } = agent;
        const { result } = tell({ ...base, kind: "after-spawn", toolUseId: callID, childId, isDone });
        if (isDone) {
          const agentType = text(args["subagent_type"]) ?? "";
          const end = { agentType, answer, startedBy: () => callID, receipts: "named" as const };
          // The sub-agent cannot be sent back: it has ended when the call's result arrives.
          tell({ ...base, agentId: childId, kind: "agent-stop", ...end });
          starters.delete(childId);
        }
        if (result) output["output"] = result;
        return;
      }
      const { tool: did, skill } = readOpencodeTool(tool, object(args), output);
      const starter = starters.get(sessionID);
      const reading = starter && {
        agentType: starter.agentType,
        startedBy: () => starter.callId,
        observation: () => readOpencodeObservation(tool, object(args), output),
      };
      // Behind the result of another tool, such as one of an MCP server, there is no place for messages.
      const messages = did && { messages: { which: "all" as const, event: "PostToolUse" } };
      const shown = readOpencodeOutput(tool, object(args), output);
      const isToTell = did !== undefined || isLong(shown);
      const call = { tool: did, ...(skill && { skill }), ...reading, ...(shown && { output: shown }) };
      const { context, output: preview } = isToTell ? tell({ ...base, kind: "after-tool", ...call, ...messages }) : {};
      if (preview !== undefined) replaceOpencodeOutput(output, preview);
      const more = [behind, context].filter(Boolean).join("\n\n");
      if (more && typeof output["output"] === "string") output["output"] += `\n\n${more}`;
    }),

    "shell.env": guard.hook("shell.env", async ({ sessionID }, { env }) => {
      if (!sessionID) return;
      const { sessionId, agentId } = await tree.place(sessionID);
      env[SESSION_VARIABLE] = sessionVariable({ client: profile.name, sessionId, agentId });
    }),

    "experimental.compaction.autocontinue": guard.hook("compaction", async ({ sessionID, agent, model }) => {
      const base = await baseOf(sessionID);
      const { context } = tell({ ...base, kind: "session-start", source: "compact" });
      compacted.add(`${sessionID} told`);
      if (!context) return;
      const request = client.session.prompt({
        path: { id: sessionID },
        body: {
          noReply: true,
          ...(agent && { agent }),
          ...(model && { model: { providerID: model.providerID, modelID: model.id } }),
          parts: [{ type: "text", text: context, synthetic: true }],
        },
      });
      await within(ASK_MS * 4, request);
    }),

    dispose: guard.hook("dispose", async () => {
      for (const id of started) tell({ ...(await baseOf(id)), kind: "session-end" });
    }),
  };
}

/** Several calls may have the same prompt: the first sub-agent goes with the first call. */
function takeFirst<T>(lists: Map<string, T[]>, key: string): T | undefined {
  const [first, ...others] = lists.get(key) ?? [];
  if (others.length > 0) lists.set(key, others);
  else lists.delete(key);
  return first;
}

/** Length of the common start of two lists. */
function sharedStart(one: readonly unknown[], other: readonly unknown[]): number {
  const end = one.findIndex((entry, at) => entry === undefined || entry !== other[at]);
  return end < 0 ? one.length : end;
}

/** Added last: the client sorts parts by ID. */
function addPart(parts: TextPart[], added: string): void {
  const last = parts.at(-1);
  if (!added || !last) return;
  const { id, sessionID, messageID } = parts.reduce((highest, part) => (part.id > highest.id ? part : highest), last);
  parts.push({ id: `${id}h`, sessionID, messageID, type: "text", text: added, synthetic: true });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Undefined if the work takes too long; errors of the work are thrown. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The call that started a sub-agent, and the sub-agent's type. */
interface Starter {
  callId: string;
  agentType: string;
}

/**
 * What the plugin needs from the engine, which runs inside the client's process. Calls are synchronous and short, as in a hook. Implementations
 * open the store with a short lock timeout and run only patterns that are proven linear, because the client runs on Bun, where a time limit does
 * not stop a pattern.
 */
export interface HookEngine {
  answer(event: ClientEvent): EventAnswer;
  /** Another session or agent of this process is making the same call to our server, and the server has not seen it yet. */
  isCallAwaited(event: EventBase, call: CallKey): boolean;
  /** Sessions of this client that hold tasks. */
  holders(): string[];
  /** A notice for the user, not for the model: why the store is not used. */
  notice(): string | undefined;
  /** Writes faults to the project's log. */
  log(level: "warn" | "error", text: string): void;
}

/**
 * Which session a sub-agent belongs to. In opencode a sub-agent is a session with a parent; for us it is an agent of the topmost session.
 * `session.created` names the parent; for sessions of an earlier process we ask the client.
 */
export class SessionTree {
  readonly #parents = new Map<string, string>();
  /** The parent's ID, "" if there is none, undefined if unknown. */
  readonly #askParent: (sessionId: string) => Promise<string | undefined>;

  constructor(askParent: (sessionId: string) => Promise<string | undefined>) {
    this.#askParent = askParent;
  }

  note(sessionId: string, parentId: string | undefined): void {
    this.#parents.set(sessionId, parentId ?? "");
    // A process may run for weeks, so the map is bounded. A dropped session is asked of the client again.
    if (this.#parents.size > MAX_SESSIONS) this.#parents.delete(this.#parents.keys().next().value!);
  }

  /** `agentId`: "" for the topmost session itself. */
  async place(sessionId: string): Promise<{ sessionId: string; agentId: string }> {
    let top = sessionId;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const parent = await this.#parentOf(top);
      if (!parent) break;
      top = parent;
    }
    return { sessionId: top, agentId: top === sessionId ? "" : sessionId };
  }

  async #parentOf(sessionId: string): Promise<string> {
    const known = this.#parents.get(sessionId);
    if (known !== undefined) return known;
    const asked = await this.#askParent(sessionId);
    if (asked !== undefined) this.note(sessionId, asked);
    return asked ?? "";
  }
}

const MAX_SESSIONS = 1_000;
const MAX_DEPTH = 10;
