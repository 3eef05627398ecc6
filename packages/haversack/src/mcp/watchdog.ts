/**
 * Kills the server when its thread hangs. Node's SQLite driver cannot interrupt a statement, so an endless one would block the server until
 * its client exits. A client can restart a dead server. The watcher is a small `sh` process, because a second thread costs the server 14 MB.
 * It sleeps most of the time and exits as soon as the server closes the pipe between them or dies.
 */
import { spawn } from "node:child_process";

/** A cold index of hundreds of skills takes 20 s on a slow machine, a locked store 15 s. */
export const STUCK_MS = 120_000;

/** `stuckMs`: how long the main thread may be busy without a pause. */
export function startWatchdog({ stuckMs }: { stuckMs: number }): { stop(): void } {
  const watcher = spawn("/bin/sh", ["-c", WATCH, "sh", String(stuckMs / 1000 / SLICES), String(stuckMs / 1000)], {
    stdio: ["pipe", "ignore", "inherit"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
  });
  watcher.unref();
  const { stdin } = watcher;
  (stdin as unknown as { unref(): void }).unref();
  const timer = setInterval(() => void stdin.write("\n"), (stuckMs / SLICES) * 2);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    stdin.destroy();
  };
  // The server also works without a watcher.
  watcher.on("error", stop);
  stdin.on("error", stop);
  return { stop };
}

/** The wait is split into slices: if the process group was stopped or the laptop slept, at most one slice passes. */
const SLICES = 8;

/**
 * Each line on the input restarts the count. The sleeping process must not hold the server's output open after the server exits.
 * A server that a debugger has stopped does not count as hanging; once it continues, it has at least one slice to report.
 * SIGKILL, because a signal that Node handles would wait for the main thread.
 */
const WATCH = `
exec 3>&2 2>/dev/null
watch() {
  slices=${SLICES}
  while [ $slices -gt 0 ]; do
    sleep "$1" </dev/null 3>&- || exit
    slices=$((slices - 1))
    if [ $slices -eq 1 ]; then case $(ps -o state= -p $PPID) in [Tt]*) slices=${SLICES} ;; esac; fi
  done
  echo "haversack: the server hung for $2 s and was ended; \\\`haversack store check\\\` checks the store" >&3
  kill -9 $PPID
}
watch "$@" & counter=$!
while read -r beat; do
  kill $counter; wait $counter
  watch "$@" & counter=$!
done
kill $counter
`;
