/**
 * A model that follows a script, behind an OpenAI-compatible endpoint on 127.0.0.1: the example runs without an account, always in the same way, and
 * the requests of the agents can be counted. Like a real model it decides by the content of the request: it loads a skill only if the conversation
 * does not contain it, and recalls a part only if it has seen a preview.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { estimateTokens } from "haversack";

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

interface ChatRequest {
  model: string;
  messages: Message[];
  tools?: { function: { name: string } }[];
}

/** What the script sees of a request. */
interface Seen {
  /** Everything that the model is shown. */
  text: string;
  /** The results of tools in this turn, oldest first. */
  results: string[];
}

/** A call that the model makes in this turn, unless `isNeeded` says no. */
interface Step {
  tool: string;
  input: object | ((seen: Seen) => object);
  isNeeded?: (seen: Seen) => boolean;
}

interface Script {
  /** Text in the user's newest message. */
  task: RegExp;
  steps: Step[];
  answer: string;
}

const handleIn = ({ text }: Seen) => /kept this output as (K\d+)/.exec(text)?.[1] ?? "";

const SCRIPTS: readonly Script[] = [
  {
    task: /Analyze Danish tender document/,
    steps: [
      { tool: "read", input: { path: "documents/tender.md" } },
      { tool: "skill", input: { name: "danish-tender-guidelines", resource: "reference/marker-system.md" } },
    ],
    answer: [
      "[FAKTA] Four mandatory requirements, MK-1 to MK-4 (section 2).",
      "[FAKTA] Price 40%, quality 35%, plan 25% (section 3).",
      "[ESTIMAT, high] MK-2 decides the data model: every decision must be reconstructed for ten years.",
      "[ESTIMAT, medium] 99.5% between 06:00 and 22:00 allows about 2.4 hours of downtime in a month.",
      "Question to the authority: does MK-2 include the rules in force on the day of the decision (section 2)?",
    ].join("\n"),
  },
  {
    task: /effort estimate for the citizen portal/,
    steps: [],
    answer:
      "Functions: sign in (5), apply (2), follow a case (1), upload (2), message (2) = 12. Factors: integration 1.2, security 1.2. 17.3 points, range 14 to 26, 22 to 41 days at an assumed 1.6 days for each point.",
  },
  {
    task: /thank-you note/,
    steps: [],
    answer: "Dear Ms Holm, thank you for showing us the case office today. Kind regards, the bid team.",
  },
  {
    task: /migrating the old cases/,
    steps: [
      {
        tool: "skill",
        input: { name: "complexity-calculator" },
        isNeeded: ({ text }) => !text.includes("# Complexity calculator"),
      },
      { tool: "skill", input: { name: "complexity-calculator", resource: "reference/factors.md" } },
    ],
    answer:
      "One source with history: migration × 1.5. Three functions of size 3 = 9 × 1.5 × 1.2 = 16.2 points, range 13 to 24.",
  },
  {
    task: /Review the architecture/,
    steps: [
      { tool: "read", input: { path: "documents/architecture.md" } },
      { tool: "requirements", input: {} },
      {
        tool: "recall",
        input: (seen) => ({ handle: handleIn(seen), find: "availability" }),
        isNeeded: (seen) => handleIn(seen) !== "",
      },
    ],
    answer:
      "1. The case database is a single point of failure; a restart breaks R-017 (availability). Smallest change: a standby. 2. The portal waits 60 seconds (R-137). 3. The archive is a nightly copy, so a day of decisions can be lost (MK-2).",
  },
  {
    task: /bid summary/,
    steps: [
      {
        tool: "delegate",
        input: {
          agent: "technical-analyst",
          task: "Analyze Danish tender document documents/tender.md. Which mandatory requirements could exclude us?",
        },
      },
    ],
    answer:
      "Summary: nothing excludes us. We ask the authority what MK-2 includes, and we plan with one restart for each update.",
  },
];

export interface Recorded {
  tokens: number;
}

export interface ModelServer {
  baseURL: string;
  /** The requests since the last call. */
  take(): Recorded[];
  close(): void;
}

export async function startModelServer(): Promise<ModelServer> {
  let recorded: Recorded[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await readAll(request)) as ChatRequest;
    const { messages, tools = [] } = body;
    const tokens = estimateTokens(JSON.stringify({ messages, tools }));
    recorded.push({ tokens });
    const message = reply(messages, new Set(tools.map((tool) => tool.function.name)));
    const finish_reason = message.tool_calls ? "tool_calls" : "stop";
    const answerTokens = estimateTokens(JSON.stringify(message));
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: `chat-${recorded.length}`,
        object: "chat.completion",
        created: 0,
        model: body.model,
        choices: [{ index: 0, message, finish_reason }],
        usage: { prompt_tokens: tokens, completion_tokens: answerTokens, total_tokens: tokens + answerTokens },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    take: () => {
      const taken = recorded;
      recorded = [];
      return taken;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function reply(
  messages: readonly Message[],
  tools: ReadonlySet<string>,
): Omit<Message, "role"> & { role: "assistant" } {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const turn = messages.slice(start + 1);
  const seen: Seen = {
    text: messages.map(textOf).join("\n"),
    results: turn.filter(({ role }) => role === "tool").map(textOf),
  };
  const script = SCRIPTS.find(({ task }) => task.test(textOf(messages[start])));
  if (!script) return { role: "assistant", content: "I have no script for this task." };
  const made = turn.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function));
  for (const { tool, input, isNeeded } of script.steps) {
    if (!tools.has(tool) || isNeeded?.(seen) === false) continue;
    const given = JSON.stringify(typeof input === "function" ? input(seen) : input);
    if (made.some((call) => call.name === tool && call.arguments === given)) continue;
    const id = `call-${messages.length}`;
    return {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: tool, arguments: given } }],
    };
  }
  return { role: "assistant", content: script.answer };
}

function textOf(message: Message | undefined): string {
  const { content } = message ?? { content: null };
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n");
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
