/**
 * What every event needs, for hook.cjs: the project, its store, the switch, the answer's form, and a line in the log when something
 * fails. The part that answers the event comes loaded with it.
 */
import { existsSync, writeSync } from "node:fs";
import { readConfigFiles } from "../base/config-files.ts";
import { findProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import { checkTrust, untrustedNotice, userStateFolder } from "../base/project-trust.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { readHookSettings } from "../engine/hook-settings.ts";
import { sizeFor } from "../skills/client-size.ts";
import { mayHaveChanged } from "../store/sqlite/git-states.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { hasUnread } from "../store/sqlite/has-unread.ts";
import { isLockFault } from "../store/sqlite/lock-fault.ts";
import { mayHaveToRead } from "../store/sqlite/may-have-to-read.ts";
import { closeIfLogIsLong, openForHook } from "../store/sqlite/open-for-hook.ts";
import { hasSpool } from "../store/sqlite/spool/has-spool.ts";
import { formatClaudeAnswer } from "./claude-code/answer.ts";
import { claudeProfile } from "./claude-code/profile.ts";
import { type ClaudeBase, readClaudeBase } from "./claude-code/prompt-event.ts";
import type { HookAdapter } from "./hook-adapter.ts";
import { HookDate } from "./hook-clock.ts";
import type { HookPlace } from "./hook-place.ts";

type Fields = Record<string, unknown>;

/** The file beside this one that answers the event. */
type Part =
  | typeof import("./hook-prompt.ts")
  | typeof import("./hook-tool.ts")
  | typeof import("./hook-session.ts")
  | typeof import("./hook-start.ts");

/** Loads another file beside this one, with a second that will be needed next. */
interface Load {
  (name: "hook-start"): typeof import("./hook-start.ts");
  (name: "hook-wake", beside: "hook-packet"): typeof import("./hook-wake.ts");
  (name: "hook-prompt"): typeof import("./hook-prompt.ts");
  (name: "hook-packet"): typeof import("./hook-packet.ts");
  (name: "hook-again"): typeof import("./hook-again.ts");
  (name: "hook-messages"): typeof import("./hook-messages.ts");
  (name: "hook-log"): typeof import("./hook-log.ts");
  (name: "hook-artifacts"): typeof import("./hook-artifacts.ts");
  (name: "hook-spool"): typeof import("./hook-spool.ts");
  (name: "hook-git"): typeof import("./hook-git.ts");
}

/**
 * How long to wait for the store's lock, in milliseconds; then the event goes into the spool. Hooks hold the lock for 1 to 5 ms, so
 * this is for a command that saves with a sync, and for a busy machine.
 */
const BUSY_MS = 200;

/**
 * Returns the ways through the code that this event took, for the cache of compiled code; 0 after a fault. An event without a
 * part only brings messages. `packaged`: the client's package has started this; it stands back where `init` has wired the client.
 */
export function answerClient(
  payload: Fields,
  part: Part | undefined,
  load: Load,
  adapter?: HookAdapter,
  packaged?: typeof import("./hook-packaged.ts"),
): number {
  const { env } = process;
  let state = "";
  try {
    const base = adapter ? adapter.base(payload, process.cwd()) : readClaudeBase(payload, process.cwd());
    if (!base) return UNANSWERED;
    const { root, worktree } = findProjectRoot(base.cwd);
    const folder = `${root}/${STATE_FOLDER}`;
    // No folder: the project does not use Haversack. A mark: it is switched off.
    if (!existsSync(folder) || existsSync(`${folder}/off`) || existsSync(`${userFolder(env)}/off`)) return UNANSWERED;
    if (packaged?.ownWiring(adapter?.client ?? "claude-code", { root, cwd: base.cwd, env })) return UNANSWERED;
    state = folder;
    const file = `${state}/haversack.db`;
    const userState = userStateFolder(env);
    const handle = openHere(file, { sessionId: base.sessionId, state, userState }, load);
    if (!handle) {
      if (payload["hook_event_name"] !== "SessionStart") return UNANSWERED;
      if (checkTrust(state, userState).kind === "untrusted")
        // All clients that run this file show `systemMessage` on their screen and keep it from the model.
        writeSync(1, JSON.stringify({ systemMessage: untrustedNotice(state) }));
      // Most likely of an older version: without this it would stay so until somebody calls the CLI.
      else if (existsSync(file)) load("hook-start").startIndexing(root);
      return UNANSWERED;
    }
    let config: unknown[] | undefined;
    const configFiles = () => (config ??= readConfigFiles({ state: folder, user: userFolder(env), userState }));
    const place: HookPlace = {
      root,
      worktree,
      state,
      env,
      handle,
      now: new HookDate(),
      ...(adapter && { adapter }),
      client: () => (adapter ? adapter.profile(root, env) : claudeProfile(root, env)),
      settings: () => readHookSettings(configFiles()),
      configFiles,
      discovery: () => load("hook-prompt"),
      wake: () => load("hook-wake", "hook-packet"),
      packet: () => load("hook-packet"),
      again: () => load("hook-again"),
      messages: () => load("hook-messages"),
      log: () => load("hook-log"),
      artifacts: () => load("hook-artifacts"),
    };
    const start = adapter?.startBefore?.(payload, base, place);
    // Such a client's own start is answered later, but nobody waits then: 300 files are 3 ms.
    if (adapter?.startBefore && payload["hook_event_name"] === "SessionStart") load("hook-start").checkIndex(place);
    if (isPause(start ?? payload) && mayHaveChanged(handle.db, base)) noteChanges(base, place, load);
    const opening = start ? load("hook-start").answerEvent(start, base, place).context : undefined;
    const answered = part ? answerPayload(payload, base, opening ? withRoomBeside(opening, place) : place, part) : {};
    const answer = withMessages(joined(opening, answered), payload, base, place);
    const text = adapter ? adapter.answer(payload, answer) : formatClaudeAnswer(payload, answer);
    if (text) writeSync(1, text);
    closeIfLogIsLong(handle);
    return waysOf(payload, answer, text);
  } catch (error) {
    // Nothing is written into a folder that came with a clone.
    if (state && checkTrust(state, userStateFolder(env)).kind === "trusted") load("hook-log").logFault(state, error);
    return 0;
  }
}

/**
 * With what waits in the spool read in before; undefined when there is no store that this program may use. A store that cannot be
 * written is answered from all the same: see spool/stand-in.ts.
 */
function openHere(
  file: string,
  { sessionId, state, userState }: { sessionId: string; state: string; userState: string | undefined },
  load: Load,
): StoreHandle | undefined {
  const options = { sessionId, warn: (text: string) => load("hook-log").logLine(state, "warn", text) };
  let handle: StoreHandle | undefined;
  try {
    handle = openForHook(file, { busyMs: BUSY_MS, userState });
  } catch (error) {
    const { openBlind, connectToRead } = load("hook-spool");
    if (isLockFault(error)) return openBlind(file, options);
    handle = openForHook(file, { busyMs: BUSY_MS, userState, readable: connectToRead(error, file) });
  }
  if (!handle) return undefined;
  const open = handle;
  open.standInFor = (error) => load("hook-spool").standInAfter(error, open, options);
  if (hasSpool(file)) load("hook-spool").takeInOrStandIn(open, options);
  return open;
}

/** Somebody stops here, or is told next what it had in hand: the events at which git may be asked what has changed. */
function isPause({ hook_event_name: event, source }: Fields): boolean {
  return event === "SessionStart" ? source === "compact" : PAUSES.includes(String(event));
}

const PAUSES = ["Stop", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd", "AfterAgent"];

/** Whatever is wrong with git, the event is answered. */
function noteChanges(base: ClaudeBase, place: HookPlace, load: Load): void {
  try {
    load("hook-git").noteChanges(base, place);
  } catch (error) {
    load("hook-log").logFault(place.state, error);
  }
}

function answerPayload(payload: Fields, base: ClaudeBase, place: HookPlace, part: Part): HookAnswer {
  if ("answerPrompt" in part) return part.answerPrompt(payload, base, place);
  if ("answerEvent" in part) return part.answerEvent(payload, base, place);
  part.recordToolEvent(payload, base, place);
  if (base.agentId && (!place.adapter || place.adapter.shown) && mayHaveToRead(place.handle.db, base)) {
    place.artifacts().noteShown(payload, base, place);
  }
  return {};
}

/** Events whose answer the model of the main agent reads at once. */
const TALKING = ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"];

/** A message that waits for the agent of this session comes with the answer; at the end of a turn it makes another one. */
function withMessages(
  answer: HookAnswer,
  payload: Fields,
  { sessionId, agentId }: ClaudeBase,
  place: HookPlace,
): HookAnswer {
  const event = String(payload["hook_event_name"]);
  // A turn that a hook has made go on is not made to go on again.
  if (agentId || !(place.adapter?.talking ?? TALKING).includes(event) || payload["stop_hook_active"] === true)
    return answer;
  if (!hasUnread(place.handle.db, sessionId, { isMentionOnly: event === "Stop" })) return answer;
  const { context = "" } = answer;
  const messages = place
    .messages()
    .messagesFor(sessionId, { event, used: sizeFor(place.client(), context) + 2 }, place);
  return messages ? { ...answer, context: [context, messages].filter(Boolean).join("\n\n") } : answer;
}

/** What a start says and what its first event says are one answer, with one cap. */
function joined(opening: string | undefined, answer: HookAnswer): HookAnswer {
  return opening ? { ...answer, context: [opening, answer.context].filter(Boolean).join("\n\n") } : answer;
}

function withRoomBeside(opening: string, place: HookPlace): HookPlace {
  const client = place.client();
  return { ...place, client: () => ({ ...client, maxChars: client.maxChars - opening.length - 2 }) };
}

/** A client may be wired for all projects, and most use no Haversack: they get the cache too. */
const UNANSWERED = 16;

/** For the cache of compiled code: what in an event decides which functions run. */
function waysOf(payload: Fields, { considered = 0 }: HookAnswer, text: string): number {
  const { hook_event_name: event, tool_name: tool } = payload;
  const kind = event === "SessionStart" ? 32 : event === "PreToolUse" ? 64 : 0;
  return 1 | (considered > 0 ? 2 : 0) | (text ? 4 : 0) | (tool === "Bash" ? 8 : 0) | kind;
}

function userFolder(env: NodeJS.ProcessEnv): string {
  return `${env["XDG_CONFIG_HOME"] || `${env["HOME"]}/.config`}/haversack`;
}
