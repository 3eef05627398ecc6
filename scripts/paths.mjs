// How much code the main paths use. `node scripts/paths.mjs [--list] [BASE]` runs each path from the sources in a separate project and
// prints
//   run      the source files in which a function ran (types and code that is only imported do not count),
//   hops     the longest of the shortest import chains from the path's first file to one of these,
//   closure  every source file that the first file imports, directly or indirectly, without types;
// then the number and length of all source files without tests and, with BASE, the difference to that commit: of everything, and without
// the parts that were added since (NEW_PARTS).
import "./pinned-node.mjs";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const SRC = "packages/haversack/src";
const src = join(root, SRC);

const HOOK = "clients/hook-events.ts";
const SESSION = "4c1f6a52-8f0e-4a0e-9b39-0c7d6c1c1a11";
const PROMPT = "Write the release notes for the next version";
const PATHS = {
  prompt: {
    limit: 25,
    from: HOOK,
    play: (place) => send(place, { hook_event_name: "UserPromptSubmit", prompt: PROMPT }),
  },
  "tool call": {
    from: HOOK,
    before: [[["claim"], { CLAUDE_CODE_SESSION_ID: SESSION }]],
    play: (place) => {
      const file_path = join(place.cwd, "src/parser.ts");
      const call = { tool_name: "Edit", tool_use_id: "toolu_1", tool_input: { file_path }, tool_response: {} };
      return send(place, { hook_event_name: "PostToolUse", ...call }, { isAnswered: false });
    },
  },
  "wake-up": {
    limit: 45,
    from: HOOK,
    play: (place) => send(place, { hook_event_name: "SessionStart", source: "startup" }),
  },
  "claim by CLI": {
    limit: 45,
    hopsLimit: 6,
    from: "cli/commands/claim.ts",
    play: (place) => cli(place, ["claim", "--agent", "alice"]),
  },
};

/** Features that were added since the code was counted first. The script refuses a path that exists in BASE, because it is not new. */
const NEW_PARTS = {
  "agents in TypeScript": ["agents/"],
  audit: ["audit/", "cli/commands/audit.ts", "cli/commands/replay.ts", "cli/print-audit.ts", "*/transcript-parts.ts"],
  board: ["board-server/", "cli/commands/board.ts", "cli/board-audit.ts"],
  "top and charts": ["cli/commands/top.ts", "cli/charts.ts", "cli/screen.ts"],
  runs: [
    ...["runs/", "engine/runs/", "store/run-store.ts", "store/sqlite/migrations/020-runs.ts"],
    ...["store/sqlite/work/runs.ts", "store/sqlite/work/sqlite-run-store.ts"],
    ...["cli/commands/run.ts", "cli/commands/runs.ts", "cli/run-checks.ts", "cli/run-view.ts", "cli/seen-run.ts"],
    ...["*/stream.ts", "clients/stream-event.ts", "clients/streamed.ts"],
  ],
  "shared store on PostgreSQL": [
    ...["store/postgres/", "engine/team/", "engine/work-of.ts"],
    "cli/commands/store-team.ts",
    ...["store/sqlite/outbox/", "store/sqlite/migrations/023-outbox.ts"],
  ],
  "imports from other tools": ["engine/work/foreign-records.ts", "engine/work/import-foreign.ts"],
  "kept tool outputs": [
    ...["engine/outputs/", "work/outputs/", "store/sqlite/outputs/", "store/sqlite/migrations/022-outputs.ts"],
    ...["cli/commands/recall.ts", "mcp/recall-tool.ts"],
  ],
  "embedding endpoint": ["engine/judge.ts"],
};

const [name, ...others] = process.argv.slice(2);
if (name === "--play") console.log(JSON.stringify(await play(others[0])));
else report(process.argv.slice(2));

function report(args) {
  const isListing = args.includes("--list");
  const base = args.find((arg) => !arg.startsWith("-"));
  const imports = importGraph();
  for (const [path, { limit = Number.POSITIVE_INFINITY, hopsLimit = Number.POSITIVE_INFINITY, from }] of Object.entries(
    PATHS,
  )) {
    // Each path runs in its own process, so that what one has loaded or cached does not shorten the next.
    const text = execFileSync(process.execPath, ["--no-warnings", fileURLToPath(import.meta.url), "--play", path]);
    const run = JSON.parse(text);
    const far = distances(from, imports);
    const hops = Math.max(...run.map((file) => far.get(file) ?? 0));
    const mark = run.length <= limit && hops <= hopsLimit ? "ok  " : "over";
    const within = (text, most) => (most < Number.POSITIVE_INFINITY ? `${text} (limit ${most})` : text);
    const shownRun = within(`${run.length} files run`, limit);
    console.log(`${mark}  ${path}: ${shownRun}, ${within(`${hops} hops`, hopsLimit)}, closure ${far.size}`);
    if (isListing) for (const file of run) console.log(`        ${far.get(file) ?? "-"} ${file}`);
  }
  const files = sourceFiles().map((path) => ({ path, text: readFileSync(join(src, path), "utf8") }));
  console.log(`source without tests: ${shown(totals(files))}`);
  if (base) compare(files, filesIn(base), base);
}

function compare(now, was, base) {
  console.log(`against ${base}: ${shown(minus(totals(now), totals(was)), signed)}`);
  for (const [part, paths] of Object.entries(NEW_PARTS)) {
    const isOfPart = ({ path }) => paths.some((one) => isAt(path, one));
    const known = was.find(isOfPart);
    if (known) throw new Error(`${part} is not new: ${base} has ${known.path}`);
    console.log(`  ${part}: ${shown(totals(now.filter(isOfPart)))}`);
  }
  const isNew = ({ path }) => Object.values(NEW_PARTS).some((paths) => paths.some((one) => isAt(path, one)));
  const old = now.filter((file) => !isNew(file));
  console.log(`without these parts: ${shown(minus(totals(old), totals(was)), signed)}`);
}

/** `place`: a file, a folder that ends in /, or "*" and how the path ends. */
function isAt(path, place) {
  if (place.startsWith("*")) return path.endsWith(place.slice(1));
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

function minus(a, b) {
  return { files: a.files - b.files, lines: a.lines - b.lines };
}

function signed(number) {
  return number > 0 ? `+${number}` : `${number}`;
}

function shown({ files, lines }, format = String) {
  return `${format(files)} files, ${format(lines)} lines`;
}

/** Tests, their suites and samples do not count as source. */
function isSource(path) {
  return path.endsWith(".ts") && !/\.(test|suite|samples)\.ts$/.test(path);
}

/** Without the files that the build makes: nobody writes or reviews them. */
function sourceFiles() {
  const listed = git("ls-files", "--cached", "--others", "--exclude-standard", `${SRC}/`).trim().split("\n");
  return listed
    .map((path) => path.slice(SRC.length + 1))
    .filter((path) => isSource(path) && existsSync(join(src, path)))
    .sort();
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
}

function filesIn(commit) {
  const names = git("ls-tree", "-r", "--name-only", commit, `${SRC}/`).trim().split("\n").filter(isSource);
  return names.map((path) => ({ path: path.slice(SRC.length + 1), text: git("show", `${commit}:${path}`) }));
}

function totals(files) {
  return { files: files.length, lines: files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0) };
}

/** File → the files that it imports statically. */
function importGraph() {
  const graph = new Map();
  for (const file of sourceFiles()) {
    const text = readFileSync(join(src, file), "utf8");
    const found = [...text.matchAll(/^(?:import|export)\s+(?!type\s)([^;"]*?from\s+)?"(\.[^"]+)"/gms)]
      .filter(([, names]) => !isTypesOnly(names))
      .map(([, , target]) => relative(src, resolve(dirname(join(src, file)), target)));
    graph.set(file, found);
  }
  return graph;
}

/** `import { type A, type B } from` */
function isTypesOnly(names) {
  const inside = /^\{([^}]*)\}/.exec(names ?? "")?.[1];
  const parts = inside
    ?.split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  return parts !== undefined && parts.length > 0 && parts.every((part) => part.startsWith("type "));
}

function distances(from, graph) {
  const far = new Map([[from, 0]]);
  for (const file of far.keys()) {
    for (const next of graph.get(file) ?? []) if (!far.has(next)) far.set(next, far.get(file) + 1);
  }
  return far;
}

/** The source files in which a function ran. */
async function play(path) {
  globalThis.__VERSION__ = "0.0.0";
  const folder = mkdtempSync(join(tmpdir(), "haversack-paths-"));
  try {
    const place = {
      cwd: join(folder, "project"),
      env: { PATH: process.env.PATH, HOME: join(folder, "home"), HAVERSACK_AGENT: "bob" },
    };
    await prepare(place, PATHS[path].before);
    const session = new Session();
    session.connect();
    const post = (method, params) =>
      new Promise((done, fail) =>
        session.post(method, params, (error, result) => (error ? fail(error) : done(result))),
      );
    // Code that runs when a file is loaded does not belong to the path.
    await import(join(src, PATHS[path].from));
    await import(join(src, "cli/main.ts"));
    await post("Profiler.enable");
    await post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await PATHS[path].play(place);
    const { result } = await post("Profiler.takePreciseCoverage");
    const home = `${pathToFileURL(src).href}/`;
    // The function without a name at offset 0 is the module itself.
    const ran = ({ functionName, ranges: [{ startOffset, count }] }) =>
      count > 0 && (functionName !== "" || startOffset > 0);
    return result
      .filter(({ url, functions }) => url.startsWith(home) && functions.some(ran))
      .map(({ url }) => fileURLToPath(url).slice(src.length + 1))
      .sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prepares a project in use: an index, one waiting task, one that an agent has left, and a message. In separate processes. */
async function prepare(place, before = []) {
  mkdirSync(place.env.HOME, { recursive: true });
  const skill = join(place.cwd, ".claude/skills/release-notes");
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, "SKILL.md"),
    "---\nname: release-notes\ndescription: How to write release notes and changelogs\n---\nList what changed for users.\n",
  );
  execFileSync("git", ["init", "-q"], { cwd: place.cwd, env: place.env });
  for (const [words, env] of [
    [["skill", "index"]],
    [["task", "create", "Write the parser", "--skill", "release-notes"]],
    [["task", "create", "Test the parser"]],
    [["claim"]],
    ...before,
  ]) {
    const program = `globalThis.__VERSION__="0.0.0";const {runCli}=await import(${JSON.stringify(join(src, "cli/main.ts"))});
      await runCli(${JSON.stringify(words)},{env:process.env,cwd:process.cwd(),out(){},err(){},readStdin:async()=>""});`;
    execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
      cwd: place.cwd,
      env: { ...place.env, ...env },
    });
  }
}

async function cli({ cwd, env }, words) {
  const { runCli } = await import(join(src, "cli/main.ts"));
  const code = await runCli(words, {
    env,
    cwd,
    isTerminal: false,
    isColour: false,
    out: () => undefined,
    err: (text) => process.stderr.write(text),
    readStdin: async () => "",
  });
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}`);
}

/** Sends an event in the same way as the hook's process. */
async function send({ cwd, env }, fields, { isAnswered = true } = {}) {
  const { answerHook } = await import(join(src, "clients/answer-hook.ts"));
  const { keptOpen } = await import(join(src, "engine/events/event-project.ts"));
  const { closeIfLogIsLong } = await import(join(src, "store/sqlite/access.ts"));
  const answer = answerHook(
    "claude-code",
    { session_id: SESSION, cwd, transcript_path: join(cwd, "none.jsonl"), ...fields },
    {
      env,
      cwd,
      cli: [],
      openStore: ({ store, userState }, sessionId, warn) =>
        keptOpen(store, { busyMs: 200, userState, warn, isForOne: true })(sessionId),
      done: closeIfLogIsLong,
    },
  );
  if ((answer !== "") !== isAnswered) throw new Error(`${fields.hook_event_name} was answered with "${answer}"`);
}
