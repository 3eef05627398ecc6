/** The engine of a project that does not use Haversack, or has it switched off: it hears everything and says nothing. */
import type { HookEngine } from "./hook-engine.ts";

export const SILENT: HookEngine = {
  prompt: () => ({}),
  tool: () => undefined,
  session: () => ({}),
  log: () => undefined,
};
