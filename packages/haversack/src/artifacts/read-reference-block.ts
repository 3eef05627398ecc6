/**
 * What a prompt tells its reader to read: the reference block of formatReferenceBlock, found again in the prompt that really
 * starts a sub-agent. So whoever starts one needs no id of ours, and a block written by hand counts too. Loaded by the hook.
 */
import { nextFence } from "./code-fence.ts";
import { isAbsolute } from "./feature-meta.ts";

export interface FoundReferences {
  documents: FoundReference[];
  /** The feature's folder: where most of them are. */
  folder: string;
  /** From the prompt's words about its iteration. */
  iteration?: number;
  /** From the prompt's own line; absent in a prompt that somebody else wrote. */
  role?: string;
}

export interface FoundReference {
  file: string;
  name: string;
  path: string;
  /** Absent: a block written by hand often has none. */
  lineCount?: number;
}

const HEADING = /^##\s+Required Artifacts\s*$/;
const ENTRY = /^[-*] ([^:\n]{1,100}): (.{1,2000})$/;
const FACTS = /\s\((\d{1,9}) lines?(?:, [^()]{0,200})?\)$/;
const ITERATION = /^This is iteration (\d{1,4}) of \d{1,4}\.?\s*$/;
const ROLE = /^Role: (\S{1,100})\s*$/;
const DOCUMENTS_MAX = 50;

/** Undefined: the prompt asks for nothing. What stands in a fence is a document, not the prompt. */
export function readReferenceBlock(prompt: string): FoundReferences | undefined {
  const documents: FoundReference[] = [];
  let iteration: number | undefined;
  let role: string | undefined;
  let before = "";
  let isInside = false;
  let fence = "";
  for (const line of prompt.split(/\r\n|\n|\r/)) {
    fence = nextFence(fence, line);
    if (fence !== "") continue;
    const number = ITERATION.exec(line)?.[1];
    if (number !== undefined) iteration = Number(number);
    // Right below the feature's: a rubric may have such a line of its own.
    if (before.startsWith("Feature: ")) role ??= ROLE.exec(line)?.[1];
    before = line;
    if (/^#{1,6}\s/.test(line)) {
      isInside = HEADING.test(line);
      continue;
    }
    const entry = isInside && documents.length < DOCUMENTS_MAX ? ENTRY.exec(line) : null;
    const document = entry && readEntry(entry[1]!, entry[2]!);
    if (document && !documents.some(({ path }) => path === document.path)) documents.push(document);
  }
  if (documents.length === 0) return undefined;
  return {
    documents: withNames(documents),
    folder: commonFolder(documents),
    ...(iteration && { iteration }),
    ...(role !== undefined && { role }),
  };
}

/** Those that cannot be read say so in words instead of beginning with a path. */
function readEntry(name: string, rest: string): FoundReference | undefined {
  const facts = FACTS.exec(rest);
  const path = (facts ? rest.slice(0, facts.index) : rest).trim().replace(/^`(.*)`$/, "$1");
  if (!isAbsolute(path) || path.endsWith(" (empty: there is nothing to read)")) return undefined;
  return { file: baseOf(path), name: name.trim(), path, ...(facts && { lineCount: Number(facts[1]) }) };
}

/** Names must tell them apart. A PRD may be a brainstorm with another file name; prompts and receipts call it prd.md. */
function withNames(documents: FoundReference[]): FoundReference[] {
  return documents.map((document) => {
    if (document.name === "PRD") return { ...document, file: "prd.md" };
    const isShared = documents.some(({ file, path }) => file === document.file && path !== document.path);
    return isShared ? { ...document, file: document.path } : document;
  });
}

function commonFolder(documents: readonly FoundReference[]): string {
  const counts = new Map<string, number>();
  for (const { path } of documents) {
    const folder = path.slice(0, Math.max(1, path.lastIndexOf("/")));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  // The last of equals: a PRD comes first, and it is the one that may be elsewhere.
  let best = "";
  for (const [folder, count] of counts) if (count >= (counts.get(best) ?? 0)) best = folder;
  return best;
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
