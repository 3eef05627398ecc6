/** A scripted server for opencode that is cleaned up with the test. */
import { onTestFinished } from "vitest";
import { startModelServer } from "../model-server.ts";
import { OPENCODE_API } from "../opencode-api.ts";
import type { Script } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";

/** A scripted server that is closed when the test is over; a fault of the script then fails the test. */
export async function testServer(script?: Script): Promise<ScriptedServer> {
  const server = await startModelServer(OPENCODE_API, script);
  onTestFinished(() => server.close());
  return server;
}
