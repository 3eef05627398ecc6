/** The files that a client runs: the runtime of this process, and the built bins of this package. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../base/errors.ts";
import type { Installed } from "../engine/wiring.ts";

export function findInstalled(from: string = import.meta.filename): Installed {
  // A chunk of dist/ when built; a file of src/ in tests, with dist/ beside src/.
  for (let folder = dirname(from); folder !== dirname(folder); folder = dirname(folder)) {
    for (const dist of [folder, join(folder, "dist")]) {
      const [hook, bin] = [join(dist, "hook.cjs"), join(dist, "haversack.cjs")];
      if (existsSync(hook) && existsSync(bin)) return { node: process.execPath, hook, bin };
    }
  }
  throw new HaversackError("not-found", `hook.cjs is missing from this installation (looked upwards from ${from})`, {
    hint: "install haversack again",
  });
}
