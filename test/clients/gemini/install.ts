/**
 * The pinned Gemini CLI, installed once from this folder's own lock file. Runs before the client tests; if it cannot be
 * installed, the whole run fails with the reason: a missing client is never skipped.
 *
 * No install script runs (`--ignore-scripts`): the client is JavaScript, and its native parts are optional.
 */
import { join } from "node:path";
import { installClient, pinnedIn } from "../install-client.ts";

const FOLDER = import.meta.dirname;
const PACKAGE = "@google/gemini-cli";

/** Vitest's global setup. */
export default function setup(): void {
  installClient({ folder: FOLDER, packageName: PACKAGE, title: "Gemini CLI" });
}

/** What Node runs. */
export function geminiProgram(): string {
  return join(FOLDER, "node_modules", PACKAGE, "bundle/gemini.js");
}

export function pinnedVersion(): string {
  return pinnedIn(FOLDER, PACKAGE);
}
