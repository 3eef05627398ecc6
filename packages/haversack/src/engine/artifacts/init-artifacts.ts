/** Writes an artifacts.json to start from: the shipped roles by reference, and an example of each kind of change. */
import { writeFileSync } from "node:fs";
import { HaversackError } from "../../base/errors.ts";
import { ensureStateFolder, type ProjectPaths } from "../project.ts";
import { roleMapFile, SHIPPED_PRESET } from "./load-role-map.ts";

export function initArtifacts(paths: ProjectPaths): { file: string; isWritten: boolean } {
  const file = roleMapFile(paths);
  ensureStateFolder(paths);
  try {
    writeFileSync(file, START, { flag: "wx" });
    return { file, isWritten: true };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return { file, isWritten: false };
    throw new HaversackError("file-unwritable", `${file}: cannot be written (${code})`, { cause: error });
  }
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
