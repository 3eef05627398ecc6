/**
 * The cost of a feature of five documents over seven roles and three iterations, in exact o200k tokens: with the documents
 * pasted, with references, with references and pruning per role, and with a resume from the second iteration on. Counts what a
 * coordinator writes and what the sub-agents then read, including the Read calls and the line numbers that the tool adds. A
 * resumed agent sends its earlier context again in every request (from the cache at best), which is shown separately.
 */
import {
  type DispatchInput,
  dispatchPrompt,
  pastedPrompt,
} from "../../packages/haversack/src/artifacts/dispatch-prompt.ts";
import { countLines } from "../../packages/haversack/src/artifacts/extract-section.ts";
import { PRESETS } from "../../packages/haversack/src/artifacts/presets/iflow.ts";
import { numberLines } from "../../packages/haversack/src/artifacts/quote-document.ts";
import type { DocumentFacts, PreviousIssue } from "../../packages/haversack/src/artifacts/reference-block.ts";
import { resumePrompt } from "../../packages/haversack/src/artifacts/resume-prompt.ts";
import { findRole, type Role, type RoleSet, readRoleMap } from "../../packages/haversack/src/artifacts/role-map.ts";
import { loadCounter, type TokenCounter } from "../../packages/haversack/src/tokens/count.ts";
import type { Benchmark } from "../harness.ts";

const ROLES: readonly [role: string, phase: string][] = [
  ["design-reviewer", "design"],
  ["implementation-reviewer", "implement"],
  ["code-quality-reviewer", "implement"],
  ["security-reviewer", "implement"],
  ["code-simplifier", "implement"],
  ["test-deepener", "implement"],
  ["implementer", "implement"],
];
const ITERATIONS = 3;
/** Lines of the documents: a PRD of two pages, a design of eight. */
const SIZES: readonly [file: string, name: string, lines: number][] = [
  ["prd.md", "PRD", 110],
  ["spec.md", "Spec", 210],
  ["design.md", "Design", 420],
  ["plan.md", "Plan", 260],
  ["tasks.md", "Tasks", 320],
];
const DIFF_LINES = 120;

interface Cost {
  /** Tokens that the coordinator writes as the prompt of a call. */
  sent: number;
  /** Tokens that the sub-agent reads by itself. */
  reads: number;
  /** Tokens of earlier iterations that a resumed agent's requests contain again. */
  carried: number;
}

export const artifacts: Benchmark = {
  name: "artifacts",
  summary: "tokens of five documents over 7 roles and 3 iterations: pasted, references, pruned, resumed",
  async run() {
    const count = await loadCounter();
    const random = mulberry32(31);
    const documents = SIZES.map(([file, name, lines]) => documentOf(file, name, lines, random));
    const diff = diffText(random);
    const { map } = readRoleMap({ extends: "iflow" }, { presets: PRESETS });
    const totals = { pasted: none(), references: none(), pruned: none(), resumed: none() };
    const perRole = ROLES.map(([name, phase]) => {
      const found = findRole(map, name, { phase });
      if (found.kind !== "found") throw new Error(`no role ${name} in ${phase}`);
      const costs = costsOf(found.role, found.set, { documents, diff, count });
      for (const way of Object.keys(totals) as (keyof typeof totals)[]) totals[way] = add(totals[way], costs[way]);
      return [name, ...Object.values(costs).map(({ sent, reads }) => `${sent} + ${reads}`)];
    });
    const all = totals.pasted.sent;
    const share = ({ sent, reads }: Cost) => `${Math.round(((sent + reads) / all) * 100)}%`;
    const ways = Object.values(totals);
    return {
      table: {
        columns: ["role, 3 iterations: sent + read", "pasted", "references", "and pruned", "and resumed"],
        rows: [
          ...perRole,
          ["all: sent by the coordinator", ...ways.map(({ sent }) => sent)],
          ["all: then read by sub-agents", ...ways.map(({ reads }) => reads)],
          ["all: both", ...ways.map(({ sent, reads }) => sent + reads)],
          ["both, against pasted", ...ways.map(share)],
          ["carried along by resumed agents", ...ways.map(({ carried }) => carried)],
        ],
      },
      goals: [
        {
          name: "references, pruned: sent, of what pasting sends",
          value: totals.pruned.sent / all,
          limit: 0.25,
          side: "at-most",
        },
        {
          name: "references, pruned: sent and read, of what pasting sends",
          value: (totals.pruned.sent + totals.pruned.reads) / all,
          limit: 0.8,
          side: "at-most",
        },
        {
          name: "resumed: sent and read, of what pasting sends",
          value: (totals.resumed.sent + totals.resumed.reads) / all,
          limit: 0.4,
          side: "at-most",
        },
      ],
      notes: [
        `documents: ${documents.map(({ file, lineCount, text = "" }) => `${file} ${lineCount} lines, ${count(text)} tokens`).join(" · ")}`,
        "pasted: every document of the phase, as an orchestrator does that knows no roles. References alone save its writing, not the reading; pruning saves reading.",
      ],
      data: totals,
    };
  },
};

interface Material {
  documents: readonly DocumentFacts[];
  diff: string;
  count: TokenCounter;
}

function costsOf(role: Role, set: RoleSet, { documents, diff, count }: Material) {
  const whole: Role = {
    ...role,
    documents: [
      ...set.documents.filter((file) => file !== role.underReview),
      ...(role.underReview ? [role.underReview] : []),
    ],
  };
  const costs = { pasted: none(), references: none(), pruned: none(), resumed: none() };
  let context = 0;
  for (let iteration = 1; iteration <= ITERATIONS; iteration++) {
    const input = inputOf(role, set, { documents, count, iteration });
    const pruned = freshCost(input, count);
    costs.pasted = add(costs.pasted, { ...none(), sent: count(pastedPrompt(input, { documents: "set" })) });
    costs.references = add(costs.references, freshCost({ ...input, role: whole }, count));
    costs.pruned = add(costs.pruned, pruned);
    const delta = resumePrompt({
      role,
      iteration,
      maxIterations: ITERATIONS,
      fixSummary: "Both issues are fixed: the limit is checked before the first byte, and the retry has a deadline.",
      previousIssues: ISSUES,
      diffStat:
        " src/upload/limit.ts | 34 +++++---\n src/upload/retry.ts | 51 +++++++++---\n 2 files changed, 61 insertions(+), 24 deletions(-)",
      diff,
    });
    const next = iteration === 1 ? pruned : { sent: count(delta), reads: 0, carried: context };
    costs.resumed = add(costs.resumed, next);
    context += next.sent + next.reads;
  }
  return costs;
}

function inputOf(
  role: Role,
  set: RoleSet,
  { documents, count, iteration }: { documents: readonly DocumentFacts[]; count: TokenCounter; iteration: number },
): DispatchInput {
  return {
    role,
    set,
    feature: { name: "031-uploads" },
    documents,
    countTokens: count,
    implementationFiles: Array.from({ length: 14 }, (_, at) => `src/upload/part-${at + 1}.ts`),
    iteration: { iteration, maxIterations: ITERATIONS, previousIssues: iteration > 1 ? ISSUES : [] },
  };
}

function freshCost(input: DispatchInput, count: TokenCounter): Cost {
  const answer = dispatchPrompt(input);
  if (answer.kind !== "prompt") throw new Error(answer.kind);
  const reads = answer.references.reduce((sum, { path, text = "" }) => {
    const call = JSON.stringify({ type: "tool_use", name: "Read", input: { file_path: path } });
    return sum + count(call) + count(numberLines(text));
  }, 0);
  return { sent: count(answer.call.prompt), reads, carried: 0 };
}

const ISSUES: readonly PreviousIssue[] = [
  {
    id: "R1",
    severity: "blocker",
    description: "The limit of 5 GB is checked after the first chunk is stored, so a refused upload leaves a file",
    location: "src/upload/limit.ts:40",
  },
  {
    id: "R2",
    severity: "warning",
    description: "A retry has no deadline: a client whose clock is wrong tries forever",
    location: "src/upload/retry.ts:12",
  },
];

const SUBJECTS = ["The client", "The server", "A worker", "The chunk store", "The upload session", "The operator"];
const VERBS = ["checks", "stores", "retries", "refuses", "reports", "removes", "resumes", "confirms"];
const OBJECTS = [
  "each chunk before the next one is sent",
  "the offset that was confirmed last",
  "an upload whose hash does not match",
  "files that nobody has asked for in a day",
  "the size limit with status 413",
  "every failure with its cause and the request id",
  "the lock of a session that has ended",
  "two uploads of the same file by the same user",
];
const REASONS = [
  "so that an interrupted upload goes on where it stopped",
  "because networks of phones change in the middle of a request",
  "unless the session was cancelled before",
  "and writes one line to the audit log",
  "within 200 ms at the 95th percentile",
  "which the acceptance test AC-7 shows",
];

/** Headings, sentences, lists and a little code, in the proportions of real documents. */
function documentOf(file: string, name: string, lineCount: number, random: () => number): DocumentFacts {
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  const sentence = () => `${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)}, ${pick(REASONS)}.`;
  const lines = [`# ${name}: Uploads that resume`, ""];
  for (let section = 1; lines.length < lineCount; section++) {
    lines.push(`## ${section}. ${pick(SUBJECTS)} ${pick(VERBS)} ${pick(OBJECTS)}`, sentence(), sentence(), "");
    lines.push(
      ...Array.from({ length: 4 }, (_, at) => `- **${name.slice(0, 1)}${section}.${at + 1}** ${sentence()}`),
      "",
    );
    if (section % 3 === 0) {
      const body = [
        "```ts",
        `export interface Part${section} {`,
        "  offset: number;",
        "  sha256: string;",
        "}",
        "```",
        "",
      ];
      lines.push(...body);
    }
  }
  const text = `${lines.slice(0, lineCount).join("\n")}\n`;
  const path = `/home/user/projects/uploads/docs/features/031-uploads/${file}`;
  return { file, name, path, state: "present", lineCount: countLines(text), sha: "3f9a0c51d2e7".repeat(5), text };
}

function diffText(random: () => number): string {
  const lines = [
    "diff --git a/src/upload/limit.ts b/src/upload/limit.ts",
    "--- a/src/upload/limit.ts",
    "+++ b/src/upload/limit.ts",
  ];
  while (lines.length < DIFF_LINES) {
    const mark = random() < 0.4 ? "+" : random() < 0.3 ? "-" : " ";
    lines.push(`${mark}  if (received + chunk.length > LIMIT_BYTES) return refuse(413, session, ${lines.length});`);
  }
  return `${lines.join("\n")}\n`;
}

function none(): Cost {
  return { sent: 0, reads: 0, carried: 0 };
}

function add(a: Cost, b: Cost): Cost {
  return { sent: a.sent + b.sent, reads: a.reads + b.reads, carried: a.carried + b.carried };
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
