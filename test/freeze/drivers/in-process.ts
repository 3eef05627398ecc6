/**
 * The built hook, called in this process instead of started: so that state which it keeps between events is noticed. For opencode the plugin's
 * sources.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DIST } from "../../bins.ts";
import type { Answered, Driver, SentEvent } from "../driver.ts";
import type { Project } from "../project.ts";
import { PluginPlayer, withEnvironment } from "./plugin-player.ts";

const require = createRequire(join(DIST, "hook.cjs"));
const PLUGIN = join(import.meta.dirname, "../../../packages/haversack/src/clients/opencode/plugin-entry.ts");

export class InProcessDriver implements Driver {
  #plugins = new PluginPlayer(PLUGIN);

  /** Another user needs another process. */
  takes({ isReader }: SentEvent): boolean {
    return !isReader;
  }

  async answer(event: SentEvent, project: Project): Promise<Answered> {
    if (event.client === "opencode") return this.#plugins.answer(event, project);
    const input = typeof event.payload === "string" ? event.payload : JSON.stringify(event.payload);
    const own = process.cwd();
    process.chdir(project.root);
    try {
      return await withEnvironment({ ...project.env, ...event.env }, async () => ({
        stdout: outputOf(() => answerHook(event.client, input)),
        exit: 0,
      }));
    } finally {
      process.chdir(own);
    }
  }

  async end(): Promise<void> {
    await this.#plugins.end();
  }
}

/** As clients/hook.ts does. */
function answerHook(client: string, input: string): void {
  if (process.env["HAVERSACK"] === "0") return;
  const { argv } = process;
  process.argv = [argv[0] ?? "", argv[1] ?? "", client];
  try {
    require("./hook-events.cjs").answerProcess(JSON.parse(input));
  } catch {
    // No JSON.
  } finally {
    process.argv = argv;
  }
}

/** What it writes to standard output. Stores that it leaves open are closed, as the end of a process does. */
function outputOf(act: () => void): string {
  const fs = process.getBuiltinModule("node:fs");
  const sqlite = process.getBuiltinModule("node:sqlite");
  const { writeSync } = fs;
  const { DatabaseSync: Database } = sqlite;
  const opened: DatabaseSync[] = [];
  let stdout = "";
  fs.writeSync = ((file: number, text: string, ...rest: []) => {
    if (file !== 1) return writeSync(file, text, ...rest);
    stdout += text;
    return text.length;
  }) as typeof writeSync;
  sqlite.DatabaseSync = class extends Database {
    constructor(...args: ConstructorParameters<typeof DatabaseSync>) {
      super(...args);
      opened.push(this);
    }
  };
  try {
    act();
  } finally {
    fs.writeSync = writeSync;
    sqlite.DatabaseSync = Database;
    for (const db of opened) if (db.isOpen) db.close();
  }
  return stdout;
}
