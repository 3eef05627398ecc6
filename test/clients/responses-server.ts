/** The model server in the form of the OpenAI Responses API, for Codex. */
import { type ModelServer, startModelServer } from "./model-server.ts";
import { RESPONSES_API } from "./responses-api.ts";
import type { ResponsesRequest } from "./responses-request.ts";
import type { Script } from "./script.ts";

export type ResponsesServer = ModelServer<ResponsesRequest>;

export function startResponsesServer(script?: Script): Promise<ResponsesServer> {
  return startModelServer(RESPONSES_API, script);
}
