/** A client's program in a terminal, as a person sees it: tmux, without the person's own settings. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const HAS_TMUX = spawnSync("tmux", ["-V"]).status === 0;

export interface Terminal {
  screen(): string;
  type(text: string): void;
  /** Presses a key (as tmux names it) until the screen shows this: a program that has just drawn a question may not listen yet. */
  press(key: string, pattern: RegExp): Promise<string>;
  /** The screen as soon as it shows this. Fails with the screen if it has not come in time. */
  until(pattern: RegExp): Promise<string>;
  /** Ends the program. */
  close(): void;
}

export interface TerminalOptions {
  cwd: string;
  env: Record<string, string>;
  /** A folder for tmux's socket. */
  base: string;
  timeLimitMs?: number;
}

/** How long a key has to have an effect. */
const AGAIN_MS = 5000;

/** The program and its children are gone when the test is over. */
export function startTerminal(command: readonly string[], options: TerminalOptions): Terminal {
  const { cwd, env, base, timeLimitMs = 120_000 } = options;
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-S", join(base, "tmux"), "-f", "/dev/null", ...words], {
      cwd,
      env: { ...env, TERM: "xterm-256color", LANG: "C.UTF-8" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  tmux("new-session", "-d", "-x", "140", "-y", "50", ...command);
  const close = () => {
    try {
      tmux("kill-server");
    } catch {
      // The program has ended, and tmux with it.
    }
  };
  onTestFinished(close);
  const screen = () => tmux("capture-pane", "-p");
  const until = async (pattern: RegExp, limitMs = timeLimitMs) => {
    const end = Date.now() + limitMs;
    for (let shown = screen(); ; shown = screen()) {
      if (pattern.test(shown)) return shown;
      if (Date.now() > end) throw new Error(`the terminal does not show ${pattern}:\n${shown}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  return {
    close,
    screen,
    type: (text) => void tmux("send-keys", "-l", text),
    until,
    async press(key, pattern) {
      for (const end = Date.now() + timeLimitMs; ; ) {
        tmux("send-keys", key);
        const shown = await until(pattern, AGAIN_MS).catch(() => undefined);
        if (shown !== undefined) return shown;
        if (Date.now() > end) throw new Error(`after ${key} the terminal does not show ${pattern}:\n${screen()}`);
      }
    },
  };
}
