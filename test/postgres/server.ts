/**
 * A PostgreSQL server of the test's own: in a temporary folder, on 127.0.0.1 and a Unix socket, ended by its process id. It never runs as
 * root: root starts it as the user `postgres` or `nobody`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";

export const PASSWORD = "secret-of-the-test";
const USER = "haversack";

export interface TestServer {
  /** On 127.0.0.1, with the password. */
  url: string;
  /** Through the Unix socket, where none is needed. */
  socketUrl: string;
  port: number;
  folder: string;
  /** The process id of the server as it runs now. */
  pid: number;
  /** Like a crash: all processes are killed at once. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Settings such as `max_connections=200`. */
  settings?: readonly string[];
  /** The server outlives this process and is stopped by its ID. */
  isDetached?: boolean;
}

/** Why no server can be started here. Undefined: one can. */
export function whyNoServer(): string | undefined {
  try {
    binaries();
    identity();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function startServer({ settings = [], isDetached = false }: StartOptions = {}): Promise<TestServer> {
  const bin = binaries();
  const who = identity();
  // Short, because the path of a socket may have 107 bytes; and readable for the other user.
  const folder = mkdtempSync("/tmp/haversack-pg-");
  const own = (path: string) => who && chownSync(path, who.uid, who.gid);
  own(folder);
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD);
  own(passwordFile);
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  const made = spawnSync(
    join(bin, "initdb"),
    [
      "-D",
      data,
      "-U",
      USER,
      "-E",
      "UTF8",
      "--locale=C",
      "--auth-local=trust",
      "--auth-host=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--no-sync",
    ],
    { env, encoding: "utf8", cwd: folder, ...who },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`);
  const port = await freePort();
  const options = ["fsync=off", "full_page_writes=off", "max_connections=100", ...settings].flatMap((setting) => [
    "-c",
    setting,
  ]);
  let child: ChildProcess;
  const startOnce = async () => {
    const log = openSync(join(folder, "log"), "a");
    child = spawn(
      join(bin, "postgres"),
      ["-D", data, "-k", folder, "-h", "127.0.0.1", "-p", String(port), ...options],
      {
        env,
        cwd: folder,
        stdio: ["ignore", log, log],
        detached: isDetached,
        ...who,
      },
    );
    closeSync(log);
    if (isDetached) child.unref();
    await ready(socketUrl, child, join(folder, "log"));
  };
  const start = async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await startOnce();
      } catch (error) {
        // After a crash, the processes of the old one take a moment to end.
        if (tries === 100 || !/shared memory block|lock file/.test(String(error))) throw error;
        await sleep(100);
      }
    }
  };
  const socketUrl = `postgres://${USER}@localhost:${port}/postgres?host=${encodeURIComponent(folder)}`;
  const server: TestServer = {
    url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`,
    socketUrl,
    port,
    folder,
    get pid() {
      return child.pid as number;
    },
    start,
    kill: async () => {
      // Its own children end by themselves when they see that it is gone.
      child.kill("SIGKILL");
      await ended(child);
    },
    stop: async () => {
      await stopProcess(child.pid as number);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return server;
}

/** A fast shutdown; after ten seconds without asking. */
export async function stopProcess(pid: number): Promise<void> {
  for (let waited = 0; isAlive(pid); waited += 50) {
    if (waited === 0) process.kill(pid, "SIGINT");
    if (waited === 10_000) process.kill(pid, "SIGKILL");
    await sleep(50);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    // A zombie still has an id.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true; // No /proc here; or it has just ended, which the next look shows.
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });
}

async function ready(url: string, child: ChildProcess, log: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`postgres ended: ${readFileSync(log, "utf8").slice(-500)}`);
    try {
      await (await connect(readPlace(url), { timeoutMs: 5000 })).close();
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`postgres did not answer: ${readFileSync(log, "utf8").slice(-500)}`);
}

/** The folder of `initdb` and `postgres`: on the PATH, or where Debian and others put them. */
function binaries(): string {
  const versions = (folder: string) => {
    try {
      return readdirSync(folder)
        .sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a))
        .map((version) => join(folder, version, "bin"));
    } catch {
      return [];
    }
  };
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions("/usr/lib/postgresql"),
    "/usr/local/pgsql/bin",
    "/opt/homebrew/bin",
  ];
  const found = folders.find((folder) => ["initdb", "postgres"].every((name) => isExecutable(join(folder, name))));
  if (found === undefined) throw new Error("there is no initdb and postgres on the PATH or in /usr/lib/postgresql");
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whom to run it as. Undefined: as this user. */
function identity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // The next one.
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
}

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

// One server for all test files of a run: the first that needs it starts it, the end of the run stops it.

/** Undefined: none can be started here; the end of the run prints the reason. */
export async function sharedServer(folder: string): Promise<{ url: string; socketUrl: string } | undefined> {
  const file = join(folder, "server.json");
  try {
    mkdirSync(join(folder, "starting"));
  } catch {
    for (let tries = 0; tries < 600; tries++) {
      try {
        const found = JSON.parse(readFileSync(file, "utf8"));
        return found.why === undefined ? found : undefined;
      } catch {
        await sleep(100);
      }
    }
    throw new Error("another test file did not start the server");
  }
  const why = whyNoServer();
  if (why !== undefined) {
    writeFileSync(file, JSON.stringify({ why }));
    return undefined;
  }
  const { url, socketUrl, pid, folder: place } = await startServer({ isDetached: true });
  // A run that is killed cannot stop it. A test file is run by a child of the run.
  const watch = `while kill -0 ${process.ppid} && kill -0 ${pid}; do sleep 2; done; kill -INT ${pid} && sleep 5; rm -rf '${place}'`;
  spawn("/bin/sh", ["-c", watch], { detached: true, stdio: "ignore" }).unref();
  writeFileSync(file, JSON.stringify({ url, socketUrl, pid, place }));
  return { url, socketUrl };
}

export async function stopShared(folder: string): Promise<void> {
  let found: { pid: number; place: string } | { why: string } | undefined;
  try {
    found = JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
  } catch {
    // None was started.
  }
  if (found && "why" in found)
    console.warn(`\nNOT TESTED: everything on PostgreSQL was skipped, because ${found.why}.`);
  else if (found) {
    await stopProcess(found.pid);
    rmSync(found.place, { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true, force: true });
}
