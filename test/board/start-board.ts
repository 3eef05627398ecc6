/** Starts `haversack board` in a scratch project, as a person does in a terminal. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { DIST, type Scratch, scratchProject } from "../bins.ts";

export interface RunningBoard {
  project: Scratch;
  /** With the token. */
  url: string;
  origin: string;
  /** What a request needs. */
  authorization: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  child: ChildProcess;
}

export async function startBoard({
  project = scratchProject(),
  words = [] as string[],
  env: more = {} as Record<string, string>,
}: {
  project?: Scratch;
  words?: string[];
  env?: Record<string, string>;
} = {}): Promise<RunningBoard> {
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: project.home,
    XDG_CONFIG_HOME: join(project.home, ".config"),
    USER: "robin",
    ...more,
  };
  const child = spawn(process.execPath, [join(DIST, "haversack.cjs"), "board", "--json", ...words], {
    cwd: project.root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const [line] = (await once(createInterface(child.stdout!), "line")) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const { origin } = new URL(url);
  const authorization = `Bearer ${new URL(url).searchParams.get("token")}`;
  return {
    ...{ project, url, origin, authorization, child },
    get: (path, headers = {}) => fetch(`${origin}${path}`, { headers: { authorization, ...headers } }),
    post: (path, body = {}, headers = {}) =>
      fetch(`${origin}${path}`, {
        method: "POST",
        headers: { authorization, origin, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}
