/**
 * A tool call by its name and arguments, for clients that give the MCP server neither session nor call id (Gemini CLI, opencode). The
 * client's hook before the call makes the key and notes whose call it is; the server makes the same key and takes the note. Loaded by
 * the hook.
 */

export interface CallKey {
  /** As the server calls the tool. */
  tool: string;
  /** Of tool and arguments. */
  key: string;
}

export function callKey(tool: string, args: unknown): CallKey {
  return { tool, key: `${tool}#${hash(JSON.stringify(sorted(args ?? {})))}` };
}

/** What the hook notes: the same call may be made twice at once. */
export function noteOfCall({ key }: CallKey, callId: string): string {
  return `${key}@${callId}`;
}

/** Clients may write an object's fields in another order than they got them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  );
}

/** No cryptography, which the hook may not load: it tells calls of one client apart that are made within seconds. */
function hash(text: string): string {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two + code, 0x85ebca6b) ^ (two >>> 13);
  }
  return [one, two, text.length].map((part) => (part >>> 0).toString(16)).join("");
}
