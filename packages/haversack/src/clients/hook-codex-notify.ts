/** What Codex starts at the end of a turn, as `init --user` sets it: silent whatever happens. */
import { noteTurn } from "./codex/notify.ts";

try {
  noteTurn(process.argv.at(-1), process.env, new Date());
} catch {
  // A folder that cannot be looked into: there is no log to write to.
}
