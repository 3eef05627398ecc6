/**
 * A team of four agents works on a tender: `npm run example:tender`. Prints which skills were loaded, when and why, and what that saved compared with
 * the same agents with all skills in their instructions. See README.md for how to run it with a real model.
 */
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, type LanguageModel, tool } from "ai";
import { type AgentEvent, AgentSystemBuilder, contextSavers, readAgentFolder } from "haversack/agents";
import { startModelServer } from "./model-server.ts";

const HERE = import.meta.dirname;
const { TENDER_PROVIDER, TENDER_MODEL, TENDER_BASE_URL, TENDER_API_KEY, TENDER_COMPARE } = process.env;

/** Tasks with the same conversation are done in it one after the other. */
const TASKS = [
  { agent: "technical-analyst", conversation: "analysis", task: "Analyze Danish tender document documents/tender.md." },
  {
    agent: "technical-analyst",
    conversation: "analysis",
    task: "Now give an effort estimate for the citizen portal in story points.",
  },
  {
    agent: "technical-analyst",
    conversation: "note",
    task: "Write a short thank-you note for the visit at the case office.",
  },
  { agent: "cost-estimator", conversation: "migration", task: "What does migrating the old cases take?" },
  {
    agent: "solution-architect",
    conversation: "review",
    task: "Review the architecture in documents/architecture.md.",
  },
  { agent: "bid-manager", conversation: "summary", task: "Prepare the bid summary." },
] as const;

/** The requirements table: long, and only a few rows of it matter for a task. */
const AREAS = ["availability", "audit", "accessibility", "search", "letters", "roles", "reports", "import"];
const requirements = tool({
  description: "All requirements of the tender, one per line: number, area, text.",
  inputSchema: jsonSchema<Record<string, never>>({ type: "object", properties: {} }),
  execute: async () =>
    Array.from({ length: 400 }, (_, at) => {
      const area = AREAS[Math.floor(at / 17) % AREAS.length];
      return `R-${String(at + 1).padStart(3, "0")}\t${area}\tThe system meets condition ${at + 1} of the ${area} annex, shown by a test.`;
    }).join("\n"),
});

interface Ran {
  tokens: number;
  text: string;
  lines: string[];
}

/** `static`: every skill is in every agent's instructions, as before. */
async function runTeam(
  kind: "static" | "dynamic",
  model: LanguageModel,
  sent: (() => number) | undefined,
): Promise<Ran[]> {
  let lines: string[] = [];
  const builder = AgentSystemBuilder.default({ root: HERE })
    .withSkillsFrom(join(HERE, "skills"))
    .withModel(model)
    .withTools({ requirements })
    .withLogger({ log: (event) => lines.push(...describe(event)) });
  if (kind === "dynamic") {
    builder.withAgentsFrom(join(HERE, "agents")).use(
      contextSavers({
        over: 8_000,
        previewChars: 2_000,
        onKept: ({ handle, tool: name, chars, savedTokens }) =>
          lines.push(
            `kept ${handle}: ${chars} characters of ${name}, shown as a preview; ${savedTokens} tokens saved each time it is sent`,
          ),
      }),
    );
  } else {
    builder.withConfig({ skills: { autoTrigger: { enabled: false } } });
    const { agents } = readAgentFolder(join(HERE, "agents"));
    for (const agent of agents) builder.withAgent({ ...agent, skills: ALL_SKILLS });
  }
  const { executor, close } = await builder.build();
  const ran: Ran[] = [];
  for (const { agent, conversation, task } of TASKS) {
    lines = [];
    const result = await executor.execute(agent, task, { conversationId: conversation });
    ran.push({ tokens: sent?.() ?? result.totalTokens, text: result.text, lines });
  }
  await close();
  return ran;
}

const ALL_SKILLS = ["danish-tender-guidelines", "complexity-calculator", "architecture-analyzer"];

/** What was loaded, when and why. */
function describe(event: AgentEvent): string[] {
  switch (event.type) {
    case "skill-loaded":
      return [`loaded ${event.skill} for ${event.agent}, ${WHEN[event.by]}: ${event.reason}; ${event.tokens} tokens`];
    case "skill-cached":
      return [`${event.skill} is there already, not sent again`];
    case "topic-changed":
      return [`the topic changed: ${event.skills.join(", ")}`];
    case "handed-off":
      return [`handoff from ${event.from}: ${event.tokens} tokens of work, ${event.handoffTokens} of handoff`];
    case "tool-start":
      return event.tool === "recall" ? [`recalled ${JSON.stringify(event.input)}`] : [];
    case "agent-failed":
    case "skill-failed":
    case "tool-failed":
    case "warning":
      return [`${event.type}: ${event.text}`];
    default:
      return [];
  }
}

const WHEN = { auto: "before its first step", tool: "when it asked", preload: "at the start" };

/** Any provider of the AI SDK by its package name, any OpenAI-compatible endpoint, or the scripted server. */
async function chooseModel(): Promise<{ model: LanguageModel; sent?: () => number; close(): void }> {
  const name = TENDER_MODEL ?? "scripted";
  if (TENDER_PROVIDER) {
    const provider = (await import(TENDER_PROVIDER)) as Record<string, (model: string) => LanguageModel>;
    const [own = ""] = TENDER_PROVIDER.split("/").slice(-1);
    const make = provider[own.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (!make) throw new Error(`${TENDER_PROVIDER} exports no provider of its own name`);
    return { model: make(name), close: () => undefined };
  }
  const server = TENDER_BASE_URL === undefined ? await startModelServer() : undefined;
  const provider = createOpenAICompatible({
    name: "tender",
    baseURL: TENDER_BASE_URL ?? server!.baseURL,
    ...(TENDER_API_KEY && { apiKey: TENDER_API_KEY }),
  });
  return {
    model: provider(name),
    ...(server && { sent: () => server.take().reduce((sum, { tokens }) => sum + tokens, 0) }),
    close: () => server?.close(),
  };
}

const { model, sent, close } = await chooseModel();
// With a real model the comparison costs money, so it needs an option.
const isCompared = sent !== undefined || TENDER_COMPARE === "1";
try {
  const before = isCompared ? await runTeam("static", model, sent) : undefined;
  const now = await runTeam("dynamic", model, sent);
  for (const [at, { agent, task }] of TASKS.entries()) {
    const { lines, text } = now[at]!;
    console.log(`\n${at + 1}. ${agent}: ${task}`);
    for (const line of lines.length > 0 ? lines : ["no skill needed, none loaded"]) console.log(`   ${line}`);
    console.log(text.replace(/^/gm, "   > "));
  }
  console.log(`\nTokens sent${sent ? ", as the server counted them" : " and received, as the provider counted them"}:`);
  const total = (ran: readonly Ran[]) => ran.reduce((sum, { tokens }) => sum + tokens, 0);
  for (const [at, { agent }] of TASKS.entries()) {
    const was = before ? `${String(before[at]!.tokens).padStart(8)} static` : "";
    console.log(`${at + 1}. ${agent.padEnd(20)}${was}${String(now[at]!.tokens).padStart(8)} dynamic`);
  }
  if (before) {
    const [was, is] = [total(before), total(now)];
    console.log(
      `   ${"all".padEnd(20)}${String(was).padStart(8)} static${String(is).padStart(8)} dynamic: ${Math.round((1 - is / was) * 100)}% saved`,
    );
  }
} finally {
  close();
}
