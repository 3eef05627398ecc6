/** What `doctor` says about `notify`: whether it is set, and whether hooks ran in the last turn here. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProjectRoot, STATE_FOLDER } from "../../base/project-root.ts";
import { readText } from "../../engine/init.ts";
import type { CheckPlace, Finding } from "../../engine/wiring.ts";
import { notifyOf, notifyProgram } from "./config-notify.ts";
import type { CodexPlaces } from "./detect.ts";
import { readTurnNote } from "./notify.ts";

/**
 * What really happened: the review that `doctor` finds in the settings may be of an older form of a hook, and only the client can
 * tell. `wired`: the files with hooks of ours.
 */
export function checkNotify(
  { cwd, installed }: CheckPlace,
  { userConfig, userHooks }: CodexPlaces,
  wired: readonly string[],
): Finding[] {
  const part = "codex notify";
  const { kind, files } = notifyOf(readText(userConfig) ?? "");
  if (kind === "foreign") return [{ part, level: "ok", text: `${userConfig} has a program of yours; it stays` }];
  const remedy = "`haversack init --user` writes it";
  if (!files) {
    // A project's settings cannot have it.
    if (!wired.includes(userHooks)) return [];
    return [{ part, level: "warn", text: `${userConfig} has no notify, so nobody sees whether hooks run`, remedy }];
  }
  const gone = [files.node, files.program].find((file) => !existsSync(file));
  if (gone) return [{ part, level: "warn", text: `${gone} is gone, so it is silent`, remedy }];
  if (files.program !== notifyProgram(installed.hook)) {
    return [{ part, level: "warn", text: `runs ${files.program}, of another installation`, remedy }];
  }
  const last = readTurnNote(join(findProjectRoot(cwd).root, STATE_FOLDER));
  if (!last) return [{ part, level: "ok", text: "set; no turn has ended here since" }];
  const text = `a turn of session ${last.sessionId} ended at ${last.at}`;
  if (last.isHeard) return [{ part, level: "ok", text: `${text}, and its hooks had run` }];
  return [
    {
      part,
      level: "fail",
      text: `${text}, and Codex had run no hook of ours for its prompt`,
      remedy: "start `codex` here, open /hooks and trust those of Haversack, also those marked as modified",
    },
  ];
}
