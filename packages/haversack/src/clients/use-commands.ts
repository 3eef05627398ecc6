/** Our hooks in a client's settings, without the server that they asked. */
import { readFileSync } from "node:fs";
import { withoutComments } from "../base/json.ts";
import { type Place, putFile } from "../base/safe-write.ts";
import { ownHooks } from "./hook-settings.ts";
import { setIn } from "./json-text.ts";

/** Lets each hook that asks our server start a process, with the command of the hooks beside it. False: the file stays as it is. */
export function useCommands(client: string, { file, within }: Place & { file: string }): boolean {
  try {
    const before = readFileSync(file, "utf8");
    const own = ownHooks(client, JSON.parse(withoutComments(before)));
    const command = own.find(({ way }) => way === "command")?.command;
    if (!command) return false;
    const text = own
      .filter(({ way }) => way === "server")
      .reduce((result, { path, timeout }) => setIn(result, path, { type: "command", command, timeout }), before);
    putFile(file, text, { within });
    return true;
  } catch {
    // Unreadable, a link, or not ours to write: the user is told what to do.
    return false;
  }
}
