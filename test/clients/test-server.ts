/** A model server that lives as long as the test that started it. */
import { onTestFinished } from "vitest";
import type { ModelRequest } from "./model-request.ts";
import { type ApiFormat, type ModelServer, startModelServer } from "./model-server.ts";
import type { Script } from "./script.ts";

/** It is closed when the test is over; a fault of the script then fails the test. */
export async function startTestServer<Recorded extends ModelRequest>(
  api: ApiFormat<Recorded>,
  script?: Script,
): Promise<ModelServer<Recorded>> {
  const server = await startModelServer(api, script);
  onTestFinished(() => server.close());
  return server;
}
