/** A project with the sample feature in a temporary folder, for the tests of this folder. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { sampleDocuments, sampleText } from "../../artifacts/sample-feature.suite.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { agentsOf, markAgent, readSeen } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { SqliteArtifactStore } from "../../store/sqlite/artifacts/artifact-store.ts";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import { projectPaths } from "../project.ts";
import { historyPath } from "./append-history.ts";
import type { ArtifactParts } from "./artifact-parts.ts";

export const AT = new Date("2031-05-06T07:00:00.000Z");

export interface ScratchFeature {
  root: string;
  folder: string;
  handle: StoreHandle;
  parts: ArtifactParts;
  write(path: string, text: string | Buffer): string;
  history(): string;
}

export function scratchFeature({ hasPrd = true, resume = false } = {}): ScratchFeature {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "haversack-artifacts-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "docs/features/031-uploads");
  mkdirSync(join(root, ".git"));
  const write = (path: string, text: string | Buffer): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const { file } of sampleDocuments()) {
    if (file !== "prd.md" || hasPrd) write(`docs/features/031-uploads/${file}`, sampleText(file));
  }
  const handle = openMemoryStore();
  const parts: ArtifactParts = {
    cwd: root,
    paths: projectPaths(root, { HOME: root }),
    isResumeOn: resume,
    store: new SqliteArtifactStore(handle),
    evidenceOf: (path) => agentsOf(handle, path).flatMap((key) => readSeen(handle, key) ?? []),
    markAgent: (agent, mark) => markAgent(handle, agent, mark, AT),
    work: new SqliteWorkStore(handle),
    by: { name: "tester", at: AT },
    client: "claude-code",
    // One per word: small numbers that a person can check.
    countTokens: (text) => text.split(/\s+/).filter(Boolean).length,
  };
  return { root, folder, handle, parts, write, history: () => readFileSync(historyPath(folder), "utf8") };
}

export function reviewAnswer(answer: {
  approved: boolean;
  issues?: object[];
  filesRead?: string;
  summary?: string;
}): string {
  const { filesRead, ...json } = answer;
  const line = filesRead === undefined ? "" : `Files read: ${filesRead}\n\n`;
  return `${line}\`\`\`json\n${JSON.stringify({ issues: [], ...json }, null, 2)}\n\`\`\`\n`;
}
