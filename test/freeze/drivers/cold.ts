/** The built hook as a process for each event, and for opencode the built plugin. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIST } from "../../bins.ts";
import type { Answered, Driver, SentEvent } from "../driver.ts";
import type { Project } from "../project.ts";
import { asReader } from "../read-only.ts";
import { PluginPlayer } from "./plugin-player.ts";

const CLOCK = join(import.meta.dirname, "../fixed-clock.cjs");

export class ColdDriver implements Driver {
  #plugins = new PluginPlayer(join(DIST, "opencode-plugin.mjs"));

  takes(): boolean {
    return true;
  }

  answer(event: SentEvent, project: Project): Promise<Answered> | Answered {
    if (event.client === "opencode") return this.#plugins.answer(event, project);
    const { client, payload, isReader } = event;
    const env = {
      ...project.env,
      XDG_CACHE_HOME: cacheFolder(),
      NODE_OPTIONS: `--require=${CLOCK}`,
      FREEZE_NOW: project.now(),
      ...(isReader && asReader(project).env),
      ...event.env,
    };
    const words = [...(isReader ? asReader(project).before : []), process.execPath, join(DIST, "hook.cjs"), client];
    const input = typeof payload === "string" ? payload : JSON.stringify(payload);
    const [program = "", ...args] = words;
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: project.root, env, input, encoding: "utf8" });
    return { stdout, exit: status, ...(stderr && { stderr }) };
  }

  async end(): Promise<void> {
    await this.#plugins.end();
  }
}

let cache = "";

/** The compiled form of the hook's files is kept from one scenario to the next, as on a user's machine. */
function cacheFolder(): string {
  if (!cache) {
    cache = mkdtempSync(join(tmpdir(), "haversack-freeze-cache-"));
    process.once("exit", () => rmSync(cache, { recursive: true, force: true }));
  }
  return cache;
}
