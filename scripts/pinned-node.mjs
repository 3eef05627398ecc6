// Import this first in a script that people start with `node`: the sources need the Node of `npm ci`, and the one on the PATH may be older.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const pinned = join(dirname(fileURLToPath(import.meta.url)), "../node_modules/.bin/node");

if (!process.features.typescript) {
  if (!existsSync(pinned)) {
    console.error(
      `this needs Node 24, and node is ${process.version}: run \`npm ci\` first, which installs the right one`,
    );
    process.exit(3);
  }
  const { status } = spawnSync(pinned, process.argv.slice(1), { stdio: "inherit" });
  process.exit(status ?? 1);
}
