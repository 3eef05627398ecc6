/** Packets and messages, for hook.cjs: loaded when a session may have something to go on with, or a message waits. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import type { EventBase, HookAnswer, SessionStart } from "../engine/hook-event.ts";
import { deliverMessages } from "../engine/wake/deliver-messages.ts";
import type { WakeParts } from "../engine/wake/gather-wake.ts";
import { readHookWakeSettings } from "../engine/wake/hook-wake-settings.ts";
import { type MakePacket, wakeSession } from "../engine/wake/wake-session.ts";
import { subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import { givenName } from "../engine/work/actor.ts";
import { readHookWorkSettings } from "../engine/work/hook-work-settings.ts";
import type { ClientProcess, Session } from "../store/local-store.ts";
import type { SessionState } from "../store/sqlite/session-state.ts";
import type { SessionTasks } from "../store/sqlite/session-tasks.ts";
import type { SqliteSkillIndex } from "../store/sqlite/skill-index.ts";
import type { SkillLedger } from "../store/sqlite/skill-ledger.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { HookPlace } from "./hook-session.ts";

/** What hook-session.cjs has anyway, so that this file need not. */
export interface SessionStores {
  index: SqliteSkillIndex;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
}

export function answerStart(
  event: EventBase & SessionStart,
  { before, process }: { before: Session | undefined; process: ClientProcess | undefined },
  stores: SessionStores,
  place: HookPlace,
): HookAnswer & { problems: string[] } {
  const { env, configFiles } = place;
  return wakeSession(event, before, {
    ...wakeParts(stores, place),
    ...stores,
    name: givenName(env),
    isWoken: Boolean(env["HAVERSACK_WOKEN"]),
    process,
    isAlive,
    leaseMs: () => readHookWorkSettings(configFiles()).leaseMs,
  });
}

export function packetFor(
  task: { taskId: string; agentType: string },
  stores: Pick<SessionStores, "index">,
  place: HookPlace,
): string {
  return subAgentPacket({ ...task, client: place.client() }, wakeParts(stores, place));
}

/** `used`: what the answer has already. */
export function messagesFor(
  sessionId: string,
  { event, used }: { event: string; used: number },
  { handle, now, client }: HookPlace,
): string {
  const isMentionOnly = event === "Stop";
  return deliverMessages({ sessionId, maxChars: client().maxChars - used, isMentionOnly, event }, { handle, now });
}

function wakeParts(
  { index }: Pick<SessionStores, "index">,
  { handle, root, configFiles, now, packet }: HookPlace,
): WakeParts & { makePacket: MakePacket } {
  return {
    handle,
    index,
    makePacket: (...args) => packet().makePacket(...args),
    root,
    settings: readHookWakeSettings(configFiles()),
    readText: (path) => readInside(root, path),
    now,
  };
}

/** Plans and templates are texts of people; what is larger is neither. */
const MAX_BYTES = 4_000_000;

function readInside(root: string, path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > MAX_BYTES) return undefined;
    // A link may lead out of the project.
    return realpathSync(path).startsWith(`${realpathSync(root)}/`) ? readFileSync(path, "utf8") : undefined;
  } catch {
    // Not ours to read: the packet says that it cannot be read.
    return undefined;
  }
}
