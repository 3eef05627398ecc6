import { setFlagsFromString } from "node:v8";
import { serveMcp } from "../../mcp/serve.ts";
import { defineCommand, flag, option, sayNote } from "../command.ts";

export const command = defineCommand({
  about:
    "Serves a coding client over MCP on standard input and output, until the input ends. Clients start it themselves once `haversack init` has connected it. The project is CLAUDE_PROJECT_DIR, else the working folder.",
  options: {
    tools: option(
      "SET",
      "The tools to offer: default, or all; each costs tokens in clients that load all of them up front.",
      { choices: ["default", "all"] },
    ),
    plugin: flag(
      "Started by the Claude Code plugin: list no tools where `haversack init` has connected this project already.",
    ),
    "serve-skills": flag(
      "Serve the skills through MCP's skills extension too; a client that knows it may list them all.",
    ),
  },
  examples: {
    "haversack mcp": "for a client's settings",
    "haversack mcp --tools all": "with every tool",
  },
  json: "no effect: the protocol is JSON already.",
  async run({ io, options }) {
    if (process.stdin.isTTY) sayNote(io, "waiting for an MCP client on standard input; Ctrl-D ends it");
    // A server is idle most of the time, and a user may have many. By default V8 lets the space for new objects grow to 48 MB and keeps it. Its
    // threads for garbage collection and the middle compiler cost another 15 MB at their peak.
    const flags = ["--semi-space-growth-factor=1", "--optimize-for-size", "--single-threaded-gc", "--no-maglev"];
    for (const flag of flags) setFlagsFromString(flag);
    await serveMcp({
      version: __VERSION__,
      serveSkills: options["serve-skills"] === true,
      // Loaded after the handshake, because it is nearly the whole program.
      load: async () => (await import("../mcp-answers.ts")).mcpAnswers(io, options),
    });
  },
});
