/**
 * The library: a project's parts as objects. Nothing is opened before it is asked for, reading makes no folder, and at every call
 * the store is the one that lies there now, so it may stay open as long as its process.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HaversackError } from "../base/errors.ts";
import { bindArtifacts } from "./artifacts/bind-artifacts.ts";
import type { Haversack, OpenOptions } from "./haversack.ts";
import { KeptProject } from "./open-project.ts";
import { type Environment, projectPaths } from "./project.ts";
import { type BoundProject, LiveWork } from "./work/live-work.ts";
import { WORK_READS, WORK_WRITES, type WorkOperations } from "./work/work-operations.ts";

/** A fault when the folder is not there. Close it when you are done: the store's file stays open until then. */
export function openHaversack({ root, agent, client }: OpenOptions): Haversack {
  const cwd = resolve(root);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HaversackError("not-found", `There is no folder ${root}`);
  }
  const env: Environment = { ...process.env, ...(agent !== undefined && { HAVERSACK_AGENT: agent }) };
  const kept = new KeptProject({ cwd, env });
  const live = new LiveWork(kept);
  const sessionId = env["CLAUDE_CODE_SESSION_ID"];
  const call = () => ({ marks: sessionId ? { sessionId } : {}, client: "library", at: new Date() });
  const project: BoundProject = {
    read: (use) => live.read(call(), use),
    write: (use) => live.write(call(), use),
  };
  return {
    root: projectPaths(cwd, env).root,
    artifacts: bindArtifacts(project, { client }),
    work: bindWork(project),
    close: () => kept.close(),
  };
}

/** The table says which of them write. */
function bindWork(project: BoundProject): WorkOperations {
  const bound = (cases: Record<string, unknown>, run: BoundProject["read"]) =>
    Object.entries(cases).map(([name, useCase]) => {
      const call = useCase as (input: unknown, parts: unknown) => Promise<unknown>;
      return [name, (input: unknown = {}) => run((parts) => call(input, parts))];
    });
  const operations = [...bound(WORK_READS, project.read), ...bound(WORK_WRITES, project.write)];
  // The entries are those of the two tables, which the type derives from.
  return Object.fromEntries(operations) as unknown as WorkOperations;
}
