/** The program that Codex starts at the end of a turn, as `init --user` sets it. It never prints anything. */
import { noteTurn } from "./codex/notify.ts";

try {
  noteTurn(process.argv.at(-1), process.env, new Date());
} catch {
  // The folder cannot be read, so there is no log to write to.
}
