/**
 * Tells people that a run has ended: in the terminal, by a command, or by a webhook. Only the user's own config can name a command or an
 * address.
 */
import { spawn } from "node:child_process";
import type { StopReason } from "./brakes.ts";
import { signalGroup } from "./client-process.ts";
import { type ReportInput, reportData } from "./report.ts";

export interface NotifiedEnd {
  run: { id: string };
  reason: StopReason;
  text: string;
  report: string | undefined;
  input: ReportInput;
}

export interface NotifyOutput {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  isTerminal: boolean;
  /** A program reads the output. */
  isQuiet: boolean;
  out(text: string): void;
}

const LIMIT_MS = 30_000;

/** Returns what went wrong. A failed notification never fails the run, which is over and saved. */
export async function notifyEnd(how: string, end: NotifiedEnd, output: NotifyOutput): Promise<string[]> {
  try {
    if (how === "terminal") {
      if (output.isTerminal && !output.isQuiet) output.out("\x07");
    } else if (/^https?:\/\//i.test(how)) await post(how, end);
    else if (how.trim() !== "") await command(how, end, output);
    return [];
  } catch (error) {
    const { message, cause } = error as Error;
    // `fetch failed` says nothing; its cause does.
    const why = cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
    return [`headless.notify failed: ${why}`];
  }
}

async function post(address: string, { input }: NotifiedEnd): Promise<void> {
  const body = JSON.stringify(reportData(input));
  const headers = { "content-type": "application/json", "user-agent": "haversack" };
  const answer = await fetch(address, { method: "POST", headers, body, signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) throw new Error(`the address answered ${answer.status}`);
}

function command(line: string, { run, reason, text, report }: NotifiedEnd, { env, cwd }: NotifyOutput): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", line], {
      cwd,
      env: {
        ...env,
        HAVERSACK_RUN_ID: run.id,
        HAVERSACK_REASON: reason,
        HAVERSACK_TEXT: text,
        HAVERSACK_REPORT: report ?? "",
      },
      stdio: "ignore",
      detached: true,
    });
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      // With what it has started.
      signalGroup(child.pid ?? -1, "SIGKILL");
    }, LIMIT_MS);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearTimeout(limit);
      const how = isLate ? `took longer than ${LIMIT_MS / 1000} seconds` : `ended with ${code ?? signal}`;
      if (code === 0) resolve();
      else reject(new Error(`the command ${how}`));
    });
  });
}
