import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import type { RunSource } from "../../board-server/board-data.ts";
import { serveBoard } from "../../board-server/serve-board.ts";
import { LiveSkills } from "../../engine/live-skills.ts";
import { KeptProject } from "../../engine/open-project.ts";
import { actorForCli } from "../../engine/work/actor.ts";
import { type LiveParts, LiveWork } from "../../engine/work/live-work.ts";
import { readReport, reportData } from "../../runs/report.ts";
import { changeMark } from "../../store/sqlite/connect.ts";
import { readSkillUses } from "../../store/sqlite/skills/skill-usage.ts";
import { BoardAudit } from "../board-audit.ts";
import { defineCommand, flag, type Io, sayWarning, wholeNumber } from "../command.ts";
import { findInstalled } from "../installed.ts";
import { openProject } from "../project.ts";
import { asSeen, type RunSummary, summarizeRun, viewRun } from "../seen-run.ts";
import { readSavings } from "./usage.ts";

export const command = defineCommand({
  about:
    "Serves a web page about this project until you press Ctrl-C: the tasks as a board, the ready queue, claims and messages, live runs, skills, and savings. Only this machine can reach it (127.0.0.1), and only with the token in the printed address.",
  options: {
    port: wholeNumber("N", "The port (default: any free one).", { maximum: 65_535 }),
    open: flag("Open it in your browser."),
  },
  examples: {
    "haversack board": "prints the address",
    "haversack board --port 4000 --open": "at a fixed port, in the browser",
  },
  json: "one line, {url, port}, then it serves.",
  async run(call) {
    const { io, options, json } = call;
    // Reports a wrong setting, a missing project or a foreign store now, not in the browser.
    const { paths, close } = openProject(call, { access: "look" });
    close();
    const installed = findInstalled();
    const assets = join(dirname(installed.bin), "board");
    if (!existsSync(assets)) throw new HaversackError("file-unreadable", "this installation lacks the board's page");
    const kept = new KeptProject({ cwd: io.cwd, env: io.env, mustStay: true });
    const warn = (text: string) => sayWarning(io, text);
    const live = new LiveWork(kept, warn);
    const audit = new BoardAudit({ installed, root: paths.root, env: io.env });
    const skills = new LiveSkills({ project: kept, log: (_, text) => warn(text) });
    const asPerson =
      <T>(use: (parts: LiveParts) => Promise<T>) =>
      (parts: LiveParts) =>
        use({ ...parts, by: { ...actorForCli(io.env, { at: new Date() }), place: parts.by.place! }, for: "person" });
    const origin = () => ({ marks: {}, client: "board", at: new Date() });
    const { port } = options;
    const board = await serveBoard(
      {
        name: cleanLine(basename(paths.root)),
        read: (use) => live.read(origin(), asPerson(use)),
        write: (use) => live.write(origin(), asPerson(use)),
        skills,
        localMark: ({ handle }) => changeMark(handle),
        skillUses: ({ handle }) => readSkillUses(handle),
        savings: ({ handle }) =>
          readSavings(handle, { limit: MOST_SESSIONS }).map(
            ({ sessionId, client, lastSeenAt, prompts, added, native }) => ({
              ...{ session_id: sessionId, client, at: lastSeenAt, prompts },
              ...{ added: added?.uncached ?? 0, added_cached: added?.cached ?? 0 },
              ...{ native: native.uncached, native_cached: native.cached },
            }),
          ),
        ...{ runs: new BoardRuns(), audit },
      },
      { assets, log: warn, ...(port !== undefined && { port }) },
    );
    // While the board runs, it also sends the hooks' changes of shared work to the server.
    live.keepUp();
    // Do this before printing the address: whoever reads it may end the board at once.
    const stopped = untilStopped();
    if (json) io.out(`${JSON.stringify({ url: board.url, port: board.port })}\n`);
    else io.out(`The board of ${basename(paths.root)}: ${board.url}\nCtrl-C ends it.\n`);
    if (options.open) openBrowser(board.url, io);
    await stopped;
    await board.close();
    await live.close();
    skills.close();
    audit.close();
  },
});

/** How many of the newest sessions to show savings for. */
const MOST_SESSIONS = 200;
const MOST_RUNS = 50;

class BoardRuns implements RunSource {
  /** A run that has ended does not change until somebody continues it, and its sessions and tasks may be hundreds of rows. */
  readonly #ended = new Map<string, { key: string; summary: RunSummary }>();

  async list({ runs: store, by }: LiveParts): Promise<RunSummary[]> {
    const summaries: RunSummary[] = [];
    for (const run of await store.listRuns({ limit: MOST_RUNS })) {
      const key = JSON.stringify(run);
      const known = this.#ended.get(run.id);
      const summary = known?.key === key ? known.summary : await summarizeRun(run, { store, now: by.at });
      if (run.state === "ended") this.#ended.set(run.id, { key, summary });
      summaries.push(summary);
    }
    return summaries;
  }

  async show(id: string, { runs: store, by }: LiveParts): Promise<object> {
    const run = asSeen(await store.getRun(id), by.at);
    const stopped = run.stopped ?? (run.remedy ? `interrupted; continue with \`${run.remedy}\`` : "not yet");
    return { ...reportData(await readReport(run, stopped, store)), ...viewRun(run) };
  }

  async stop({ id, isNow }: { id: string; isNow: boolean }, { runs: store, by }: LiveParts): Promise<void> {
    const run = asSeen(await store.getRun(id), by.at);
    if (run.state !== "running")
      throw new HaversackError("refused", `run ${run.id} ${run.state === "ended" ? "has ended" : "was interrupted"}`);
    await store.requestStop(run.id, isNow ? "now" : "gracefully");
  }
}

function openBrowser(url: string, io: Io): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { stdio: "ignore", detached: true });
  child.on("error", () => sayWarning(io, `${program} could not be started; open the address yourself`));
  child.unref();
}

function untilStopped(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => done());
  });
}
