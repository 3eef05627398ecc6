/** The scripted server that tests of Gemini CLI use. */
import { GEMINI_API } from "../gemini-api.ts";
import type { ModelServer } from "../model-server.ts";
import type { Script } from "../script.ts";
import { startTestServer } from "../test-server.ts";

export function testServer(script?: Script): Promise<ModelServer> {
  return startTestServer(GEMINI_API, script);
}
