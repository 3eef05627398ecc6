/**
 * What the hook needs to know of a client other than Claude Code: how its payloads are read and its answers written. Each is a file
 * of its own (`hook-codex.cjs`), loaded before the part that answers. Claude Code's readers are in those parts: it is met
 * most, and every file more costs a start.
 */
import type { EventBase, HookAnswer, HookEvent } from "../engine/hook-event.ts";
import type { ClientProfile } from "../skills/activation.ts";
import type { ToolEvent } from "../work/capture.ts";

export type HookPart = "hook-prompt" | "hook-tool" | "hook-session" | "";

export interface HookBase {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  cwd: string;
}

type Fields = Record<string, unknown>;

export interface HookAdapter {
  client: string;
  /** The file that answers the event; "": it only brings messages. */
  part(payload: Fields): HookPart;
  base(payload: Fields, fallbackCwd: string): HookBase | undefined;
  /** Undefined for what nobody typed. */
  prompt(payload: Fields): { prompt: string; promptId?: string } | undefined;
  tool(payload: Fields, cwd: string): { tool?: ToolEvent; skill?: string };
  event(payload: Fields, base: EventBase): HookEvent | undefined;
  answer(payload: Fields, answer: HookAnswer): string;
  profile(root: string, env: NodeJS.ProcessEnv): ClientProfile;
  /** Events whose answer the model of the main agent reads at once. */
  talking: readonly string[];
}
