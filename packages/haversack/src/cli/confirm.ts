/** A question to a person: yes only when they type it. */
import { createInterface } from "node:readline/promises";
import type { Io } from "./command.ts";

/** undefined: there is nobody to ask. */
export async function confirm(io: Io, question: string): Promise<boolean | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
