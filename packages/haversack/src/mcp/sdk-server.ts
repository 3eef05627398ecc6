/** The SDK's server, used for the protocol revision without a handshake and for the skills extension. */
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { errorText } from "../base/errors.ts";
import type { Answers } from "./serve.ts";
import type { ServerOptions, ServerParts } from "./server.ts";
import { MOST_LINE_BYTES, type WholeLines } from "./whole-lines.ts";

export async function serveWithSdk(
  input: WholeLines,
  { answers, parts, options }: { answers: Answers; parts: ServerParts; options: ServerOptions },
): Promise<void> {
  const extension = options.serveSkills ? await import("./skill-source.ts") : undefined;
  const ended = new Promise<void>((resolve) => {
    input.once("end", resolve);
    input.once("close", resolve);
    process.stdout.once("error", () => resolve());
    process.stdout.once("close", resolve);
  });
  const handle = serveStdio(
    () => {
      const mcp = new McpServer({ name: "haversack", version: options.version });
      const { server } = mcp;
      server.registerCapabilities({ tools: {} });
      server.setRequestHandler("tools/list", () => answers.listTools() as never);
      server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
        const call = { name: params.name, arguments: params.arguments, _meta: mcpReq._meta };
        return answers.callTool(call, server.getClientVersion()?.name) as never;
      });
      server.oninitialized = () => answers.begin();
      extension?.attachSkills(mcp, parts);
      return mcp;
    },
    {
      // Large enough for any message: the input delivers whole lines and skips longer ones.
      transport: new StdioServerTransport(input, process.stdout, { maxBufferSize: 2 * MOST_LINE_BYTES }),
      onerror: (error) => parts.log("warn", errorText(error)),
    },
  );
  // The input was paused after the first line, which showed that the SDK is needed.
  setImmediate(() => input.resume());
  await ended;
  await handle.close();
}
