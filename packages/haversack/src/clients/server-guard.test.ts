import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isOwnCommand, serverCommand, unguarded } from "./server-entry.ts";

const GONE = { node: "/nowhere/node", bin: "/nowhere/haversack.cjs" };

function say(...lines: string[]) {
  const { command, args } = serverCommand(GONE);
  const input = lines.map((line) => `${line}\n`).join("");
  // The PATH has no programs, so the shell must do everything itself.
  const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: "utf8", env: { PATH: "/nowhere" } });
  return {
    status,
    stderr,
    answers: stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

describe("a runtime that is gone", () => {
  it("is answered for: nothing to offer, in the client's protocol version, until the input ends", () => {
    const protocolVersion = "2031-01-01";
    const clientInfo = { name: 'a "id":7, {"id":8} * \\', version: "1" };
    const initialize = { method: "initialize", params: { protocolVersion, capabilities: { roots: {} }, clientInfo } };
    const { status, stderr, answers } = say(
      JSON.stringify({ ...initialize, jsonrpc: "2.0", id: 0 }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      JSON.stringify({ jsonrpc: "2.0", id: "a-1 *", method: "ping" }),
      "no message",
      JSON.stringify({ jsonrpc: "2.0", id: 12, method: "tools/list", params: {} }),
      JSON.stringify({
        method: "tools/call",
        params: { name: "hook", arguments: { prompt: '"id":1,{"method":"x"}' } },
        id: 13,
      }),
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(answers).toEqual([
      {
        jsonrpc: "2.0",
        id: 0,
        result: { protocolVersion, capabilities: {}, serverInfo: { name: "haversack", version: "0" } },
      },
      { jsonrpc: "2.0", id: "a-1 *", result: {} },
      { jsonrpc: "2.0", id: 12, result: { tools: [] } },
      // An event gets the empty answer.
      { jsonrpc: "2.0", id: 13, result: { content: [{ type: "text", text: "{}" }] } },
    ]);
  });
});

it("answers with the id of the request, not with one among its parameters", () => {
  const nested = {
    name: "hook",
    arguments: { id: "T1", method: "tools/list", params: { id: 7 }, protocolVersion: "x" },
  };
  const call = { jsonrpc: "2.0", method: "tools/call", params: nested };
  const { answers } = say(
    JSON.stringify({ jsonrpc: "2.0", id: 21, method: "tools/call", params: nested }),
    JSON.stringify({ ...call, id: 22 }),
  );
  const result = { content: [{ type: "text", text: "{}" }] };
  expect(answers).toEqual([21, 22].map((id) => ({ jsonrpc: "2.0", id, result })));
});

it("becomes the server when both files are there, whatever their paths hold", () => {
  const folder = mkdtempSync(join(tmpdir(), "it's a $HOME "));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, "haversack.cjs");
  writeFileSync(bin, "console.log(process.pid, process.argv[2])");
  const { command, args } = serverCommand({ node: process.execPath, bin });
  const { pid, stdout } = spawnSync(command, args, { encoding: "utf8" });
  expect(stdout).toBe(`${pid} mcp\n`);
});

it("holds nothing that the client would fill in, and is recognised", () => {
  const entry = serverCommand(GONE);
  expect(entry.args[1]).not.toContain("$" + "{");
  expect(isOwnCommand(entry)).toBe(true);
  expect(unguarded(entry)).toEqual({ command: GONE.node, args: [GONE.bin, "mcp"] });
  expect(isOwnCommand({ command: GONE.node, args: [GONE.bin, "mcp"] })).toBe(true);
  expect(isOwnCommand({ command: "/bin/sh", args: ["-c", "exec bag mcp"] })).toBe(false);
});
