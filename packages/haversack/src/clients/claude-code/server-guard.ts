/**
 * How the client starts our MCP server: through a shell that takes over when the runtime or our file went away. A server that
 * does not start costs about 136 tokens in every session, because the client tells the model; one that has nothing, none.
 */
export interface ServerFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of haversack.cjs. */
  bin: string;
}

export interface ServerCommand {
  command: string;
  args: string[];
}

export function serverCommand({ node, bin }: ServerFiles): ServerCommand {
  return { command: "/bin/sh", args: ["-c", GUARD, node, bin, "mcp"] };
}

/** The command that the guard ends in; another one as it is, as is one of a version without the guard. */
export function unguarded({ command, args }: ServerCommand): ServerCommand {
  const [flag, , program, ...rest] = args;
  return flag === "-c" && program !== undefined ? { command: program, args: rest } : { command, args };
}

/** Of any version that wrote it; another program may have a server of our name. */
export function isOwnCommand(entry: ServerCommand): boolean {
  const { args } = unguarded(entry);
  return args.length === 2 && /haversack\.cjs$/.test(args[0] ?? "") && args[1] === "mcp";
}

/**
 * Answers `initialize` in the client's own protocol version and with no capability, so that no model asks for more; a call, which a hook may
 * still make, with `{}`, which is silence; and any other request with nothing. A message is split at `,{}`: what stands inside a text has its quotes escaped, so
 * a part that begins with `"id":` is one. No brace after a dollar: the client would fill in a variable.
 */
const GUARD = [
  '[ -x "$0" ] && [ -f "$1" ] && exec "$0" "$@"; set -f; IFS=,{}; while IFS= read -r line; do id=; has=;',
  `for part in $line; do case $part in '"id":'*) id=$part;; '"protocolVersion":'*)`,
  `has=$part',"capabilities":{},"serverInfo":{"name":"haversack","version":"0"}';;`,
  `'"method":"tools/call"') has='"content":[{"type":"text","text":"{}"}]';; esac; done;`,
  `[ -z "$id" ] || printf '{"jsonrpc":"2.0",%s,"result":{%s}}\\n' "$id" "$has"; done`,
].join(" ");
