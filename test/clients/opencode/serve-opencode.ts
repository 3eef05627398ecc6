/** opencode as a server with several sessions in one process. It ends with the test. */
import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { ScriptedServer } from "../scripted-server.ts";
import { opencodeProgram } from "./install.ts";
import { environment, providerConfig } from "./run-opencode.ts";
import type { ScratchOpencode } from "./scratch-opencode.ts";

export interface Served {
  /** Its id. */
  createSession(): Promise<string>;
  /** A new session with the same messages. */
  fork(sessionId: string): Promise<string>;
  /** Waits for the end of the turn. */
  prompt(sessionId: string, text: string): Promise<void>;
}

const START_MS = 60_000;

export async function serveOpencode({
  repo,
  server,
}: {
  repo: ScratchOpencode;
  server: ScriptedServer;
}): Promise<Served> {
  repo.writeConfig(providerConfig(server, 200_000));
  const child = spawn(opencodeProgram(), ["serve", "--hostname", "127.0.0.1", "--port", "0"], {
    cwd: repo.root,
    env: environment({ repo, server }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    // The group: its MCP server too.
    if (child.pid) process.kill(-child.pid, "SIGKILL");
  });
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      said += chunk.toString("utf8");
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (found) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", () => reject(new Error(`opencode serve ended: ${said}`)));
    setTimeout(() => reject(new Error(`opencode serve says no address: ${said}`)), START_MS).unref();
  });
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  return {
    createSession: async () => (await post("/session", {})).id,
    fork: async (id) => (await post(`/session/${id}/fork`, {})).id,
    async prompt(id, text) {
      await post(`/session/${id}/message`, { parts: [{ type: "text", text }] });
    },
  };
}
