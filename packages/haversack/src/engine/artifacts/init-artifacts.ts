/** Writes an artifacts.json to start from: the shipped roles by reference, and an example of each kind of change. */
import { putNewFile } from "../../base/safe-write.ts";
import { ensureStateFolder, type ProjectPaths } from "../project.ts";
import { roleMapFile, SHIPPED_PRESET } from "./load-role-map.ts";

export function initArtifacts(paths: ProjectPaths): { file: string; isWritten: boolean } {
  const file = roleMapFile(paths);
  ensureStateFolder(paths);
  return { file, isWritten: putNewFile(file, START, { within: paths.root }) };
}

const START = `${JSON.stringify(
  {
    extends: SHIPPED_PRESET,
    "//": "A set or role of the same name changes only the keys it gives; null removes it. `haversack artifacts check` checks this file.",
    sets: {},
  },
  null,
  2,
)}\n`;
