/**
 * The Messages API as opencode uses it through its built-in @ai-sdk/anthropic. How 1.18.33 tells its conversations apart on the wire
 * (seen, not documented): every request has its session in `x-session-id`, a sub-agent's the parent in `x-parent-session-id`;
 * the summariser gets the conversation as one text in `<conversation>`; titles and other side requests bring no tools.
 */
import { writeError, writeReply } from "./messages-api.ts";
import { type ModelRequest, parseModelRequest, type RequestKind } from "./model-request.ts";
import type { ApiFormat } from "./model-server.ts";
import { DONE, SUMMARY } from "./script.ts";

export const OPENCODE_API: ApiFormat = {
  read({ method, path, headers, bytes }, index) {
    if (method !== "POST" || path !== "/v1/messages") return undefined;
    const request = parseModelRequest(index, headers, bytes);
    const session = header(request, "x-session-id");
    const parent = header(request, "x-parent-session-id");
    return { ...request, kind: requestKind(request, parent), sessionId: parent ?? session, agentId: parent && session };
  },
  write: writeReply,
  writeError,
  defaultReply: ({ kind }) => ({ text: kind === "compaction" ? SUMMARY : DONE }),
  other: () => ({}),
};

function requestKind({ tools, lastUserText }: ModelRequest, parent: string | undefined): RequestKind {
  if (tools.length === 0) return lastUserText.includes("<conversation>") ? "compaction" : "side";
  return parent ? "sub-agent" : "main";
}

function header({ headers }: ModelRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
