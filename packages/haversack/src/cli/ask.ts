/** A question to a person. */
import { createInterface } from "node:readline/promises";
import type { Io } from "./command.ts";

/** What they typed; empty when they ended the input. undefined: there is nobody to ask. */
export async function ask(io: Io, question: string): Promise<string | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C close without an answer, and the question would wait forever.
  const ended = new Promise<string>((resolve) => {
    lines.once("close", () => {
      io.err("\n");
      resolve("");
    });
  });
  try {
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.removeAllListeners("close");
    lines.close();
  }
}
