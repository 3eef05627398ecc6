/** A scripted server and a run of Gemini CLI that are cleaned up with the test. */
import { onTestFinished } from "vitest";
import { GEMINI_API } from "../gemini-api.ts";
import { startModelServer } from "../model-server.ts";
import type { Script } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";

/** A scripted server that is closed when the test is over; a fault of the script then fails the test. */
export async function testServer(script?: Script): Promise<ScriptedServer> {
  const server = await startModelServer(GEMINI_API, script);
  onTestFinished(() => server.close());
  return server;
}
