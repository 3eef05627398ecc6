/**
 * The plugin that runs inside opencode (1.18.33): the client's hooks in, engine, text and refusals out. No process per event.
 *
 * How text reaches the model: as a part behind the prompt (`chat.message`, sub-agents too), behind a tool's result
 * (`tool.execute.after`), and after a compaction as a message of its own, which the client stores, before it goes on by itself.
 * The system prompt is left alone: a change there would make the client's whole cached prefix worthless.
 */
import { type CallKey, callKey, noteOfCall } from "../../engine/call-key.ts";
import type { ClientEvent, EventAnswer, EventBase } from "../../engine/events/client-event.ts";
import { SESSION_VARIABLE, sessionVariable } from "../../engine/work/actor.ts";
import { object, text } from "../claude-code/fields.ts";
import type { Config, PluginHooks, PluginInput, TextPart } from "./client-api.ts";
import { Guard, Refusal } from "./guard.ts";
import type { HookEngine, Starter } from "./hook-engine.ts";
import { opencodeProfile, SERVER_PREFIX } from "./profile.ts";
import { SessionTree } from "./session-tree.ts";
import { isSkillDenied, type Permission } from "./skill-permission.ts";
import { readOpencodeObservation, readOpencodeTool, readStartedAgent } from "./tool-event.ts";

export interface PluginParts {
  engine: HookEngine;
  /** What the client gets without a file: our MCP server, `/work` and its agents, deferred skills. */
  addTo(config: Config): void;
}

/** How long the client may take to answer a question of ours. */
const ASK_MS = 500;
/** How often, and how long each time, a call waits for another that is just like it. */
const MOST_WAITS = 50;
const WAIT_MS = 20;
/** Calls that have not started their sub-agent yet. */
const MAX_SPAWNING = 100;

export function haversackPlugin(
  { directory, client }: PluginInput,
  { engine, addTo }: PluginParts,
): Partial<PluginHooks> {
  const guard = new Guard({ log: (level, line) => engine.log(level, line) });
  /** What the client's settings say of skills, ours among them; known once it has started. */
  let permission: Permission;
  const profile = opencodeProfile((name) => isSkillDenied(permission, name));
  const tree = new SessionTree(async (id) => {
    const answer = await within(ASK_MS, client.session.get({ path: { id } }));
    return answer?.data && (answer.data.parentID ?? "");
  });
  /** Sessions that this process has seen a prompt of. */
  const started = new Set<string>();
  const created = new Set<string>();
  /** Of those the ones that go on from another: only their title says so. */
  const forks = new Set<string>();
  /** Compacted, and the packet not given yet. */
  const compacted = new Set<string>();
  /** Calls that start a sub-agent, with what it gets beside its prompt: by that prompt, which is all that the two have in common. */
  const spawning = new Map<string, (Starter & { packet: string })[]>();
  /** Who started a sub-agent, by its session. */
  const starters = new Map<string, Starter>();
  /** What goes behind a tool's result, by call. */
  const behindResult = new Map<string, string>();
  const windows = new Map<string, number>();

  const baseOf = async (id: string): Promise<EventBase> => ({
    client: profile,
    cwd: directory,
    ...(await tree.place(id)),
  });
  const tell = (event: ClientEvent): EventAnswer => guard.call(event.kind, () => engine.answer(event)) ?? {};
  const isAwaited = (base: EventBase, call: CallKey): boolean =>
    guard.call("call", () => engine.isCallAwaited(base, call)) ?? false;
  /** The text that a session begins with, or goes on with after a compaction. */
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
  /** Once for each start of the client. */
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
  /** The client does not say which session a fork is of. Its messages keep their times: the one that shares most of them. */
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
      } else if (type === "message.updated") {
        const usedTokens = tokensOf(object(info));
        const windowTokens = windows.get(id);
        if (usedTokens === undefined || !engine.fill) return;
        const base = await baseOf(id);
        guard.call("fill", () => engine.fill?.({ ...base, usedTokens, ...(windowTokens && { windowTokens }) }));
      }
    }),

    "chat.params": guard.hook("chat.params", async ({ sessionID, model }) => {
      const tokens = model?.limit?.context;
      if (tokens) windows.set(sessionID, tokens);
    }),

    "chat.message": guard.hook("chat.message", async ({ sessionID, agent }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic && part.text);
      // Our own packet, and what the client adds by itself, come along here too.
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
        // Not into the call itself: the coordinator would carry it in its own window from then on.
        const packet = answer.prompt?.startsWith(prompt) ? answer.prompt.slice(prompt.length).trim() : "";
        spawning.set(prompt, [...(spawning.get(prompt) ?? []), { callId: callID, agentType, packet }]);
        // A call that is refused or fails starts none, and nothing tells of it.
        if (spawning.size > MAX_SPAWNING) spawning.delete(spawning.keys().next().value!);
        return;
      }
      const isOwnTool = tool.startsWith(SERVER_PREFIX);
      const call = isOwnTool ? callKey(tool.slice(SERVER_PREFIX.length), args) : undefined;
      // The server knows a call by tool and arguments: of two that are alike the second waits until the first is known.
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
          // It cannot be sent back: when the call's result is told, it has ended.
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
      if (did) tell({ ...base, kind: "after-tool", tool: did, ...(skill && { skill }), ...reading });
      if (behind && typeof output["output"] === "string") output["output"] += `\n\n${behind}`;
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

/** Calls may have the same prompt: the first sub-agent is the first call's. */
function takeFirst<T>(lists: Map<string, T[]>, key: string): T | undefined {
  const [first, ...others] = lists.get(key) ?? [];
  if (others.length > 0) lists.set(key, others);
  else lists.delete(key);
  return first;
}

/** How many entries two lists begin with in common. */
function sharedStart(one: readonly unknown[], other: readonly unknown[]): number {
  const end = one.findIndex((entry, at) => entry === undefined || entry !== other[at]);
  return end < 0 ? one.length : end;
}

/** Behind the others: the client puts parts in the order of their ids. */
function addPart(parts: TextPart[], added: string): void {
  const last = parts.at(-1);
  if (!added || !last) return;
  const { id, sessionID, messageID } = parts.reduce((highest, part) => (part.id > highest.id ? part : highest), last);
  parts.push({ id: `${id}h`, sessionID, messageID, type: "text", text: added, synthetic: true });
}

function tokensOf(info: Record<string, unknown>): number | undefined {
  if (info["role"] !== "assistant") return undefined;
  const { input, output, cache } = object(info["tokens"]);
  const { read, write } = object(cache);
  const sum = [input, output, read, write].reduce<number>((total, part) => total + (Number(part) || 0), 0);
  return sum > 0 ? sum : undefined;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Undefined when it takes too long; its own fault otherwise. */
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
