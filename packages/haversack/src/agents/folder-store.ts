/** Conversations as files: one JSON file each, readable only by you. */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { readProjectText } from "../base/clean-text.ts";
import { isRecord, readJson } from "../base/json.ts";
import { makeFolder, putFile, removeFile, USER } from "../base/safe-write.ts";
import type { ConversationStore, SavedConversation } from "./conversations.ts";

const MAX_BYTES = 64_000_000;

/**
 * Give it to `withStore`: conversations then outlive the process. `folder` is made if it is missing. A file that is damaged or unreadable is left alone, and the turn
 * throws `store-failed`; `forget` removes it.
 */
export function folderStore(folder: string): ConversationStore {
  const dir = resolve(folder);
  const fileOf = (id: string) => join(dir, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.json`);
  return {
    loadConversation: async (id) => {
      const read = readProjectText(fileOf(id), { root: dir, maxBytes: MAX_BYTES });
      if (read === undefined) return undefined;
      if (read.text === undefined) throw new Error(`${fileOf(id)} ${read.problem}`);
      const { value } = readJson(read.text);
      // Does not count as a new conversation, because the next turn would overwrite what can still be recovered.
      if (!isSaved(value)) throw new Error(`${fileOf(id)} is damaged: it does not hold a whole conversation`);
      if (value["id"] !== id) throw new Error(`${fileOf(id)} holds another conversation`);
      return value as unknown as SavedConversation;
    },
    saveConversation: async (id, { messages, ledger, turns }) => {
      makeFolder(dir, { within: USER, mode: 0o700 });
      const text = JSON.stringify({ id, savedAt: new Date().toISOString(), turns, ledger, messages });
      putFile(fileOf(id), text, { within: dir, mode: 0o600, isSynced: false });
    },
    deleteConversation: async (id) => {
      removeFile(fileOf(id), { within: dir });
    },
  };
}

function isSaved(value: unknown): value is Record<string, unknown> {
  return (
    isRecord(value) &&
    Array.isArray(value["messages"]) &&
    Array.isArray(value["ledger"]) &&
    Number.isInteger(value["turns"])
  );
}
