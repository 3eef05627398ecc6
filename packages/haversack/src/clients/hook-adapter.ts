/**
 * What the hook needs to know of a client other than Claude Code: how its payloads are read and its answers written. Each is a file
 * of its own (`hook-codex.cjs`), loaded with the part that answers. Claude Code's readers are in those parts: it is met
 * most, and every file more costs a start.
 */
import type { EventBase, HookAnswer, HookEvent } from "../engine/hook-event.ts";
import type { ClientProfile } from "../skills/activation.ts";
import type { ClientProcess } from "../store/local-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import type { ToolEvent } from "../work/capture.ts";

export interface HookBase {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  cwd: string;
}

type Fields = Record<string, unknown>;

export interface HookAdapter {
  client: string;
  base(payload: Fields, fallbackCwd: string): HookBase | undefined;
  /** Undefined for what nobody typed. */
  prompt(payload: Fields): { prompt: string; promptId?: string } | undefined;
  tool(payload: Fields, cwd: string): { tool?: ToolEvent; skill?: string };
  /** A command that ended well, and what the model saw of its output; absent: receipts of sub-agents are not kept. */
  shown?(payload: Fields): { command: string; output: string } | undefined;
  event(payload: Fields, base: EventBase): HookEvent | undefined;
  /**
   * For a client that takes no text at a session's start or after a compaction: the payload of the start that is answered with this
   * event, before it. Absent: starts are answered when they come.
   */
  startBefore?(payload: Fields, base: HookBase, place: { handle: StoreHandle; now: Date }): Fields | undefined;
  /** With `startBefore`: whether the transcript holds an answer of the model already, so that this is not the first prompt. */
  hasAnswered?(payload: Fields): boolean;
  answer(payload: Fields, answer: HookAnswer): string;
  profile(root: string, env: NodeJS.ProcessEnv): ClientProfile;
  /** The client's own process, which lives as long as its session; absent: it cannot be known. */
  process?(): ClientProcess | undefined;
  /** Events whose answer the model of the main agent reads at once. */
  talking: readonly string[];
}
