/**
 * Identifies a tool call by name and arguments, for clients that give the MCP server neither session nor call id (Gemini CLI, opencode).
 * The client's hook makes the key before the call and notes the caller. The server makes the same key and takes the note. Loaded by the
 * hook.
 */

export interface CallKey {
  /** The server's name for the tool. */
  tool: string;
  /** Hash of tool and arguments. */
  key: string;
}

export function callKey(tool: string, args: unknown): CallKey {
  return { tool, key: `${tool}#${hash(JSON.stringify(sorted(args ?? {})))}` };
}

/** The hook's note. It contains the call id, because the same call may run twice at once. */
export function noteOfCall({ key }: CallKey, callId: string): string {
  return `${key}@${callId}`;
}

/** Clients may change the order of an object's fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}

/** Not cryptographic, because the hook may not load that. It only tells apart calls of one client within seconds. */
function hash(text: string): string {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two + code, 0x85ebca6b) ^ (two >>> 13);
  }
  return [one, two, text.length].map((part) => (part >>> 0).toString(16)).join("");
}
