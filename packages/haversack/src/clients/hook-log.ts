/** The log, and the masking of secrets, for hook.cjs: loaded when something fails, or a prompt may hold a secret. */
import { errorText } from "../base/errors.ts";
import { appendLog } from "../base/log.ts";
import { HookDate } from "./hook-clock.ts";

export { maskSecrets } from "../base/mask.ts";

export function logFault(state: string, error: unknown): void {
  logLine(state, "error", errorText(error));
}

export function logLine(state: string, level: "warn" | "error", text: string): void {
  appendLog(`${state}/log`, { at: new HookDate(), level, part: "hook", text });
}
