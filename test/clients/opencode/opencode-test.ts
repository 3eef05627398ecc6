/** The scripted server that tests of opencode use. */

import type { ModelServer } from "../model-server.ts";
import { OPENCODE_API } from "../opencode-api.ts";
import type { Script } from "../script.ts";
import { startTestServer } from "../test-server.ts";

export function testServer(script?: Script): Promise<ModelServer> {
  return startTestServer(OPENCODE_API, script);
}
