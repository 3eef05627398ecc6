/**
 * How the client starts our MCP server: through a shell script that answers itself if the runtime or our file is gone. A server
 * that does not start costs about 136 tokens in every session, because the client tells the model; an empty server costs none.
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

/** The command that the guard runs. A command without the guard is returned unchanged. */
export function unguarded({ command, args }: ServerCommand): ServerCommand {
  const [flag, , program, ...rest] = args;
  return flag === "-c" && program !== undefined ? { command: program, args: rest } : { command, args };
}

/** True for any version of our command. Another program may have a server of our name. */
export function isOwnCommand(entry: ServerCommand): boolean {
  const { args } = unguarded(entry);
  return args.length === 2 && /haversack\.cjs$/.test(args[0] ?? "") && args[1] === "mcp";
}

/**
 * Answers `initialize` with the client's own protocol version and no capabilities, `tools/list` (which Codex sends anyway) with no tools,
 * `tools/call` with the empty answer to an event, and any other request with an empty result.
 *
 * A message is split at `,{}`. Quotes inside a string are escaped, so a part that begins with `"id":` is a key. The parameters may have
 * such keys too: if the request's id comes before them, later ids are ignored; else the last id is the request's. No brace may
 * follow a dollar sign: the client would expand a variable.
 */
const GUARD = [
  '[ -x "$0" ] && [ -f "$1" ] && exec "$0" "$@"; set -f; IFS=,{}; while IFS= read -r line; do id=; has=; own=; seen=;',
  `for part in $line; do case $part in '"params":') [ "$seen" ] || own=$id; seen=1;; '"id":'*) [ "$own" ] || id=$part;;`,
  `'"protocolVersion":'*) [ "$has" ] || has=$part',"capabilities":{},"serverInfo":{"name":"haversack","version":"0"}';;`,
  `'"method":"tools/list"') [ "$has" ] || has='"tools":[]';;`,
  `'"method":"tools/call"') [ "$has" ] || has='"content":[{"type":"text","text":"{}"}]';; esac; done;`,
  `[ -z "$id" ] || printf '{"jsonrpc":"2.0",%s,"result":{%s}}\\n' "$id" "$has"; done`,
].join(" ");
