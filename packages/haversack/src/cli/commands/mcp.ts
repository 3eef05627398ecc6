import { setFlagsFromString } from "node:v8";
import { serveMcp } from "../../mcp/serve.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";

export const spec: CommandSpec = {
  about:
    "Serves a coding client over MCP on standard input and output, until the input ends. Clients start it themselves once `haversack init` has wired it. The project is CLAUDE_PROJECT_DIR, else the working folder.",
  options: {
    tools: {
      type: "string",
      value: "SET",
      choices: ["default", "all"],
      about: "The tools to offer: default, or all; every one costs tokens where clients load them up front.",
    },
    plugin: {
      type: "boolean",
      about: "Started by the Claude Code plugin: list no tools where `haversack init` has wired this project already.",
    },
    "serve-skills": {
      type: "boolean",
      about: "Serve the skills through MCP's skills extension too; a client that knows it may list them all.",
    },
  },
  examples: [
    { run: "haversack mcp", says: "for a client's settings" },
    { run: "haversack mcp --tools all", says: "with every tool" },
  ],
};

export async function run({ io, options }: Call): Promise<ExitCode> {
  if (process.stdin.isTTY) io.err("haversack mcp: waiting for an MCP client on standard input; Ctrl-D ends it\n");
  // A server is idle most of the time. V8 would let the space for new objects grow to 48 MB and keep it.
  for (const flag of ["--semi-space-growth-factor=1", "--optimize-for-size"]) setFlagsFromString(flag);
  await serveMcp({
    version: __VERSION__,
    serveSkills: options["serve-skills"] === true,
    // Behind the handshake: it is nearly all of the program.
    load: async () => (await import("../mcp-answers.ts")).mcpAnswers(io, options),
  });
  return 0;
}
