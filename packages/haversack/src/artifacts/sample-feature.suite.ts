/** A feature of five short documents, for the tests of this folder. */
import { countLines } from "./extract-section.ts";
import type { DocumentFacts } from "./reference-block.ts";

export const FEATURE_PATH = "/repo/docs/features/031-uploads";

const TEXTS: Readonly<Record<string, string>> = {
  "prd.md": `# PRD: Uploads

## Problem Statement
Large files fail halfway and must be sent again.

## Goals
- An upload that was interrupted goes on where it stopped.
`,
  "spec.md": `# Spec: Uploads

## R1 Resume
An upload resumes at the last byte that the server confirmed.

## R2 Limits
At most 5 GB. Larger ones are refused with 413 before the first byte.
`,
  "design.md": `# Design: Uploads

## C1: Chunk store
Chunks are files named by offset.

### Errors
A chunk that does not match its hash is dropped.

## C2: Client
\`\`\`ts
// # not a heading
send(chunk);
\`\`\`

## C3: Cleanup
Chunks older than a day go.
`,
  "plan.md": `# Plan: Uploads

## Phase 1: Store

### Step 1.1: Chunk store
Test first, then C1.

### Step 1.2: Cleanup
C3.

## Phase 2: Client
C2.
`,
  "tasks.md": `# Tasks: Uploads

### Task 1: Store a chunk
- **Files:** \`src/chunk-store.ts\`, \`src/chunk-store.test.ts\`
- **Traceability:** Design C1; Plan Step 1.1

Write a chunk to a file named by its offset, and refuse one whose hash is wrong.

**Done when:**
- a chunk with a wrong hash leaves no file
- two chunks of one upload can be written at once

### Task 2: Remove old chunks
- **Traceability:** Design C9; Plan Step 1.2

**Done when:** chunks older than a day are gone.
`,
};

const NAMES: Readonly<Record<string, string>> = {
  "prd.md": "PRD",
  "spec.md": "Spec",
  "design.md": "Design",
  "plan.md": "Plan",
  "tasks.md": "Tasks",
};

export function sampleText(file: string): string {
  return TEXTS[file]!;
}

export function sampleDocuments({ hasPrd = true }: { hasPrd?: boolean } = {}): DocumentFacts[] {
  return Object.entries(TEXTS).map(([file, text]): DocumentFacts => {
    const path = `${FEATURE_PATH}/${file}`;
    if (file === "prd.md" && !hasPrd) return { file, name: "PRD", path, state: "missing", isNoPrd: true };
    const sha = file.slice(0, 1).charCodeAt(0).toString(16).repeat(32);
    return { file, name: NAMES[file]!, path, state: "present", lineCount: countLines(text), sha, text };
  });
}
