/**
 * Runs a command in this process, like the bin, in a scratch project: 5 to 20 ms instead of 80 for a process. Exit, streams and concurrency need a
 * process, so they are tested with the built bin.
 */
import { join } from "node:path";
import type { Io } from "../packages/haversack/src/cli/command.ts";
import { runCli } from "../packages/haversack/src/cli/main.ts";
import type { Ran, Scratch } from "./bins.ts";

interface RunHere extends Partial<Pick<Io, "cwd" | "isTerminal" | "width" | "errorWidth">> {
  stdin?: string;
  env?: Record<string, string>;
}

export async function run(
  project: Pick<Scratch, "root" | "home">,
  words: string[],
  { stdin = "", env = {}, cwd = project.root, ...io }: RunHere = {},
): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await runCli(words, {
    env: { HOME: project.home, XDG_CONFIG_HOME: join(project.home, ".config"), ...env },
    cwd,
    isTerminal: false,
    isColour: false,
    ...io,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readStdin: async () => stdin,
  });
  return { code, out, err, json: () => JSON.parse(out) };
}
