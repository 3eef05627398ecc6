/** The model server in the form of the Anthropic Messages API, for Claude Code. */
import { MESSAGES_API } from "./messages-api.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import type { Script } from "./script.ts";

/** A model server whose requests have only what every format has. */
export type ScriptedServer = ModelServer;

export function startScriptedServer(script?: Script): Promise<ScriptedServer> {
  return startModelServer(MESSAGES_API, script);
}
