/**
 * What a store holds, for a person who decides whether to use it. The store may be an attacker's, so it must have passed
 * `checkStore` with this program's own schema: then it holds no programs, and no page leads in a circle.
 */
import { connect } from "./connect.ts";

export interface StorePeek {
  /** What there is, in the order in which it matters to the reader. */
  rows: { name: string; count: number }[];
  /** The newest, cut short. Texts of strangers: clean them before they are shown. */
  tasks: string[];
  messages: { sender: string; text: string }[];
}

const SHOWN = 5;
const MAX_CHARS = 200;

export function peekStore(file: string): StorePeek {
  const db = connect(file, { readOnly: true });
  try {
    const counts = ["tasks", "messages", "agents", "sessions", "skills"].map((name) => ({
      name,
      count: Number(db.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"]),
    }));
    const tasks = db.prepare("SELECT substr(title, 1, ?) AS title FROM tasks ORDER BY seq DESC LIMIT ?");
    const messages = db.prepare(
      "SELECT substr(sender, 1, 60) AS sender, substr(text, 1, ?) AS text FROM messages ORDER BY seq DESC LIMIT ?",
    );
    return {
      rows: counts,
      tasks: tasks.all(MAX_CHARS, SHOWN).map((row) => String(row["title"])),
      messages: messages
        .all(MAX_CHARS, SHOWN)
        .map((row) => ({ sender: String(row["sender"]), text: String(row["text"]) })),
    };
  } finally {
    db.close();
  }
}
