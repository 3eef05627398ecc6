/** Input that no client should send: the answer is empty, or uses what can be understood. */
import type { Fields } from "../recorded.ts";
import type { RawStep, Scenario, Step } from "../scenario.ts";
import { PDF_PROMPT, withTask } from "./seeds.ts";
import type { Voice } from "./voices.ts";

export function badInput(voice: Voice): Scenario[] {
  if (voice.client === "opencode") return [];
  const { start, prompt, beforeEdit, afterEdit } = voice;
  const asked = (changes: Fields) => prompt(PDF_PROMPT, { with: changes });
  const steps: Step[] = [
    raw("nothing", ""),
    raw("no JSON", "{"),
    raw("null", "null"),
    raw("a list", "[]"),
    raw("a number", "7"),
    raw("a text", '"SessionStart"'),
    raw("an empty object", "{}"),
    raw("an event without a session", JSON.stringify({ hook_event_name: "SessionStart", cwd: "/repo/" })),
    ...start("startup"),
    ...start("somehow"),
    asked({ hook_event_name: "NoSuchEvent" }),
    asked({ hook_event_name: undefined }),
    asked({ hook_event_name: 7 }),
    asked({ session_id: undefined }),
    asked({ session_id: "" }),
    asked({ session_id: 7 }),
    asked({ cwd: undefined }),
    asked({ cwd: "/repo/no/such/folder" }),
    asked({ cwd: 7 }),
    asked({ transcript_path: "/repo/no/such/file.jsonl" }),
    asked({ transcript_path: null }),
    prompt("", { with: { prompt: 7 } }),
    prompt("", { with: { prompt: null } }),
    prompt("", { with: { prompt: "\u0000\u001b[31mPDF form\ud800" } }),
    prompt(`${PDF_PROMPT} `.repeat(4_000)),
    beforeEdit("x", { with: { tool_input: null } }),
    beforeEdit("x", { with: { tool_name: 7 } }),
    beforeEdit("x", { with: { tool_use_id: undefined } }),
    beforeEdit("../outside.txt"),
    afterEdit("x", { with: { tool_input: null, tool_response: null } }),
    afterEdit("x", { with: { tool_name: undefined } }),
    afterEdit("x", { with: { tool_name: "NoSuchTool" } }),
    afterEdit("../outside.txt"),
    ...voice.end({ with: { reason: 7 } }),
  ];
  return [
    {
      name: "bad-input",
      about: "damaged payloads, unknown events, wrong types, a very long prompt",
      seed: (project) => withTask(voice, project),
      // What is long is cut in the golden file.
      steps,
    },
  ];
}

function raw(what: string, stdin: string): RawStep {
  return { raw: what, stdin };
}
