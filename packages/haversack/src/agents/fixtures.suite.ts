/** What the tests of this part share: the skills of a team that answers tenders, its agents, and a model that follows a script. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MockLanguageModelV4 } from "ai/test";
import { onTestFinished } from "vitest";
import { copyOf } from "./conversations.ts";

export const TENDER_SKILL = `---
name: danish-tender-guidelines
description: Danish public tender compliance rules and formatting standards
license: MIT
metadata:
  version: "1.0.0"
  tags: "tender,danish,compliance,formatting"
triggers:
  keywords:
    - "danish tender"
    - "dansk udbud"
    - "offentlig udbud"
    - "tender compliance"
    - "udbudsbetingelser"
  patterns:
    - "analyz.*danish.*tender"
    - "tender.*denmark|danish"
    - "udbud.*analyse"
  confidence: 0.7
---

# Danish tender guidelines

Mark every statement: [FAKTA] for what the tender documents say, with the page, and [ESTIMAT] for what you conclude.

Read reference/marker-system.md for the rules of the markers.
`;

export const COMPLEXITY_SKILL = `---
name: complexity-calculator
description: Estimates the effort of software work with a points formula
triggers:
  keywords: ["complexity estimation", "estimate complexity", "story points", "effort estimate"]
  confidence: 0.5
---

Points = features × integration factor × risk factor. State the three numbers.
`;

export const ARCHITECTURE_SKILL = `---
name: architecture-analyzer
description: Reviews system architecture against known patterns and their failure modes
triggers:
  keywords: ["architecture review", "system architecture", "microservices"]
  confidence: 0.5
---

Name the components, the pattern, and what fails first under load.
`;

export const ANALYST = `---
name: technical-analyst
description: Evaluates software projects and tenders
tools: [read, write, grep, skill]
---

You are a Technical Analyst who evaluates software.
`;

/** A folder of its own, with these files, that is gone after the test. */
export function scratchFolder(files: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "haversack-agents-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** `skills/` with the three skills of the team, `agents/` with the analyst. */
export function tenderFolder(more: Record<string, string> = {}): string {
  return scratchFolder({
    "skills/danish-tender-guidelines/SKILL.md": TENDER_SKILL,
    "skills/danish-tender-guidelines/reference/marker-system.md": "# Markers\n\n[FAKTA] needs a page number.\n",
    "skills/danish-tender-guidelines/assets/analysis-template.md": "# Analysis\n",
    "skills/danish-tender-guidelines/scripts/validate.py": "print('ok')\n",
    "skills/complexity-calculator/SKILL.md": COMPLEXITY_SKILL,
    "skills/architecture-analyzer/SKILL.md": ARCHITECTURE_SKILL,
    "agents/technical-analyst.md": ANALYST,
    ...more,
  });
}

type Mock = InstanceType<typeof MockLanguageModelV4>;
export type ModelCall = Parameters<Mock["doGenerate"]>[0];
type Generated = Awaited<ReturnType<Mock["doGenerate"]>>;
type StreamPart = Awaited<ReturnType<Mock["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

/** What the model says in one step: text, or thoughts, calls of tools and texts in order. */
export type Say = string | ({ tool: string; input: unknown; raw?: string } | { thought: string } | { text: string })[];
/** The steps in order; the last one repeats. A function sees the call. An error is thrown. */
export type Script = (Say | Error | ((call: ModelCall) => Say | Promise<Say>))[];

export interface ScriptedModel extends Mock {
  readonly calls: ModelCall[];
}

export function scriptedModel(...script: Script): ScriptedModel {
  const calls: ModelCall[] = [];
  let at = 0;
  const next = async (call: ModelCall): Promise<Say> => {
    calls.push(copyOf({ ...call, abortSignal: undefined }) as unknown as ModelCall);
    const step = script[Math.min(at++, script.length - 1)] ?? "done";
    if (step instanceof Error) throw step;
    call.abortSignal?.throwIfAborted();
    return typeof step === "function" ? step(call) : step;
  };
  const usage = {
    inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 20, text: 20, reasoning: 0 },
  };
  let ids = 0;
  const contentOf = (say: Say): Generated["content"] =>
    typeof say === "string"
      ? [{ type: "text", text: say }]
      : say.map((part) => {
          if ("text" in part) return { type: "text", text: part.text };
          const signature = { providerMetadata: { scripted: { signature: `sig-${++ids}` } } };
          if ("thought" in part) return { type: "reasoning", text: part.thought, ...signature };
          const { tool, input, raw } = part;
          return { type: "tool-call", toolCallId: `call-${ids}`, toolName: tool, input: raw ?? JSON.stringify(input) };
        });
  const finishOf = (say: Say) => ({
    unified:
      typeof say !== "string" && say.some((part) => "tool" in part) ? ("tool-calls" as const) : ("stop" as const),
    raw: undefined,
  });
  const model = new MockLanguageModelV4({
    supportedUrls: { "image/*": [/^https:/] },
    doGenerate: async (call) => {
      const say = await next(call);
      return { content: contentOf(say), finishReason: finishOf(say), usage, warnings: [] };
    },
    doStream: async (call) => {
      const say = await next(call);
      const parts: StreamPart[] = [{ type: "stream-start", warnings: [] }];
      for (const [at, part] of contentOf(say).entries()) {
        if (part.type !== "text" && part.type !== "reasoning") {
          parts.push(part as StreamPart);
          continue;
        }
        const { type, text, providerMetadata } = part;
        parts.push({ type: `${type}-start`, id: `t${at}` });
        for (const word of text.split(/(?<= )/)) parts.push({ type: `${type}-delta`, id: `t${at}`, delta: word });
        parts.push({ type: `${type}-end`, id: `t${at}`, ...(providerMetadata && { providerMetadata }) });
      }
      parts.push({ type: "finish", finishReason: finishOf(say), usage });
      return { stream: ReadableStream.from(parts) as ReadableStream<StreamPart> };
    },
  });
  return Object.assign(model, { calls });
}

/** The texts of a role in what the model got. */
export function textsOf(call: ModelCall | undefined, role: string): string[] {
  return (call?.prompt ?? []).flatMap((message) => {
    if (message.role !== role) return [];
    if (typeof message.content === "string") return [message.content];
    return message.content.map((part) => {
      if (part.type === "text") return part.text;
      if (part.type === "tool-result" && "value" in part.output) return String(part.output.value);
      return JSON.stringify(part);
    });
  });
}
