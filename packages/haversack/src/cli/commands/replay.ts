import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { estimateSavings, eventsOf, type SavingsEstimate } from "../../audit/estimate-savings.ts";
import type { FoundTranscript } from "../../audit/find-transcripts.ts";
import {
  clientOf,
  REPLAYED_CLIENTS,
  type ReplayedClient,
  type ReplayedEvent,
  readPayloads,
  replayPayloads,
} from "../../audit/replay-payloads.ts";
import { ScratchEngine } from "../../audit/scratch-engine.ts";
import { HaversackError } from "../../base/errors.ts";
import { loadCounter } from "../../tokens/count.ts";
import { type Call, defineCommand, flag, type Output, option, sayWarning } from "../command.ts";
import { findProject, readNamedFile } from "../project.ts";
import { counted } from "../terminal.ts";
import { auditTranscripts, findTranscripts, onThisMachine, READERS } from "./audit.ts";

export const command = defineCommand({
  about:
    "Replays a file through the real engine, in a scratch project with copies of this project's skills, rules and settings. Your project and its store stay as they are. A file of recorded hook payloads (one JSON object per line): answers each as the hook would, and prints what, how fast, and how many tokens the model would read. A transcript of a client: estimates the same sessions with Haversack, and says how it was estimated.",
  arguments: [{ name: "FILE", about: "recorded hook payloads, or a transcript", required: true }],
  options: {
    client: option("NAME", "The client that sent the payloads (default: detected from their fields).", {
      choices: REPLAYED_CLIENTS,
    }),
    answers: flag("Also print each answer."),
  },
  examples: {
    "haversack replay events.jsonl --answers": "what the hook would answer",
    "haversack replay session.jsonl": "what Haversack would have saved",
  },
  json: "For payloads {client, events: [{event, session_id, ms, tokens, answer}], tokens, problems: [{line, problem}]}. For a transcript {client, estimate: {sessions, windows, prompts, tokens, added, savings: [{what, needs, before, after, is_sure}], saved: {low, high}, saved_in_requests: {low, high}, method}}.",
  async run(call) {
    const { io } = call;
    const [file = ""] = call.arguments;
    const path = resolve(io.cwd, file);
    const { files } = findTranscripts({ env: io.env, readers: READERS, paths: [path] });
    const [transcript] = files;
    return transcript ? replayTranscript(call, transcript) : replayFile(call, file);
  },
});

type ReplayCall = Pick<Call<{ client?: ReplayedClient; answers?: boolean }>, "io" | "options">;

async function replayFile(call: ReplayCall, file: string): Promise<Output> {
  const { io } = call;
  const { payloads, problems } = readPayloads(readNamedFile(call, file));
  if (payloads.length === 0) {
    throw new HaversackError("input-invalid", `${file} holds no hook payloads and is not a transcript that we know`, {
      hint: "a payload is the JSON object that a client writes to a hook's standard input",
    });
  }
  for (const { line, problem } of problems.slice(0, 10)) sayWarning(io, `${file}: line ${line} ${problem}`);
  const client = call.options.client ?? clientOf(payloads);
  const countTokens = await loadCounter();
  const engine = new ScratchEngine(findProject(call).paths.root, io.env, await eventCode());
  try {
    const events = replayPayloads(payloads, { client, engine, countTokens });
    const tokens = events.reduce((sum, event) => sum + event.tokens, 0);
    const text = formatEvents(client, events, { tokens, hasAnswers: call.options.answers === true });
    return { data: { client, events, tokens, problems }, text, code: problems.length > 0 ? 1 : 0 };
  } finally {
    engine.end();
  }
}

const eventCode = () => import("../mcp-answers.ts");

function formatEvents(
  client: string,
  events: readonly ReplayedEvent[],
  { tokens: total, hasAnswers }: { tokens: number; hasAnswers: boolean },
): string {
  const lines = events.flatMap(({ event, sessionId, ms, tokens, answer }, place) => [
    `${String(place + 1).padStart(4)}  ${event.padEnd(18)}  ${sessionId.slice(0, 8).padEnd(8)}  ${ms.toFixed(1).padStart(7)} ms  ${tokens === 0 ? (answer === "" ? "no answer" : "an answer without text") : `${tokens} tokens`}`,
    ...(hasAnswers && answer !== "" ? [answer.replace(/^/gm, "      ")] : []),
  ]);
  const times = events.map(({ ms }) => ms).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  return [
    ...lines,
    `${counted(events.length, "event")} of ${client}: ${total} tokens for the model; ${median.toFixed(1)} ms in the middle, ${(times.at(-1) ?? 0).toFixed(1)} ms at most, in this process.`,
  ].join("\n");
}

async function replayTranscript(call: ReplayCall, transcript: FoundTranscript): Promise<Output> {
  const { io } = call;
  const countTokens = await loadCounter();
  const { sessions } = auditTranscripts([transcript], { countTokens, elsewhere: onThisMachine(io.env) });
  if (sessions.length === 0) throw new HaversackError("not-found", "no session in this transcript");
  const { client } = transcript.reader;
  // The skills of the project that the session worked in, if it is still there.
  const [project] = sessions.map((session) => session.project).filter((path) => path !== "" && existsSync(path));
  const engine = new ScratchEngine(project ?? findProject(call).paths.root, io.env, await eventCode());
  try {
    const events = eventsOf(transcript.reader, transcript.path, engine);
    const estimate = estimateSavings(sessions, events, { engine, countTokens });
    return { data: { client, estimate }, text: formatEstimate(estimate) };
  } finally {
    engine.end();
  }
}

function formatEstimate(estimate: SavingsEstimate): string {
  const { windows, prompts, tokens, savings, saved, savedInRequests, method } = estimate;
  const number = (value: number) => Math.round(value).toLocaleString("en-US");
  const width = Math.max(...savings.map(({ what }) => what.length));
  const share = (value: number) => (tokens > 0 ? `${Math.round((100 * value) / tokens)}%` : "0%");
  return [
    `${number(tokens)} tokens in ${counted(windows, "window")}, ${counted(prompts, "prompt")}. With Haversack (estimate):`,
    "",
    `  ${"".padEnd(width)}  ${"before".padStart(10)}  ${"after".padStart(10)}  needs`,
    ...savings
      .filter(({ before, after }) => before > 0 || after > 0)
      .map(
        ({ what, needs, before, after }) =>
          `  ${what.padEnd(width)}  ${number(before).padStart(10)}  ${number(after).padStart(10)}  ${needs}`,
      ),
    "",
    `Saved in windows: ${range(saved, number)} tokens (${range(saved, share)}). Over all requests, mostly from the cache: ${range(savedInRequests, number)}.`,
    method,
  ].join("\n");
}

function range({ low, high }: { low: number; high: number }, show: (value: number) => string): string {
  return show(low) === show(high) ? show(low) : `${show(low)} to ${show(high)}`;
}
