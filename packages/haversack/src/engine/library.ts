/**
 * The library: one project as an object. It uses the same engine, the same store and the same trust rules as the command line and the
 * MCP server. Nothing is opened before it is needed, and reading creates no files.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HaversackError } from "../base/errors.ts";
import { gitPlace } from "../base/project-root.ts";
import type { ArtifactOperations } from "./artifacts/artifact-operations.ts";
import { type ArtifactParts, artifactParts, cappedCounter } from "./artifacts/artifact-parts.ts";
import { artifactRefs, readSection } from "./artifacts/artifact-refs.ts";
import { auditFolder } from "./artifacts/audit-folder.ts";
import { dispatchRole } from "./artifacts/dispatch-role.ts";
import { checkArtifacts } from "./artifacts/load-role-map.ts";
import { openFeature } from "./artifacts/open-feature.ts";
import { decideIssue, recordReview } from "./artifacts/record-review.ts";
import { reportReceipts } from "./artifacts/report-receipts.ts";
import type { Agents, MatchedSkill, OpenOptions, Project, Skills, WakeAnswer } from "./library-types.ts";
import { LiveSkills } from "./live-skills.ts";
import { KeptProject } from "./open-project.ts";
import { type Environment, projectPaths, usableConfig } from "./project.ts";
import { addAgent, listAgents, removeAgent, showAgent } from "./wake/agents.ts";
import type { WakeUp } from "./wake/make-packet.ts";
import { readInbox, sendMessage } from "./wake/messages.ts";
import { wakeAgent } from "./wake/wake-agent.ts";
import { type BoundProject, type LiveParts, LiveWork } from "./work/live-work.ts";
import { WORK_READS, WORK_WRITES, type WorkOperations } from "./work/work-operations.ts";

/**
 * Opens the project that `folder` belongs to. Rejects with `not-found` when the folder does not exist. Close the project when you are
 * done: the database stays open until then.
 */
export async function openProject(folder = ".", options: OpenOptions = {}): Promise<Project> {
  const { agent, client, onWarning = () => undefined } = options;
  if (process.platform === "win32") {
    throw new HaversackError("usage", "Windows is not supported", { hint: "run the program inside WSL" });
  }
  const cwd = resolve(folder);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HaversackError("not-found", `there is no folder ${folder}`, {
      hint: "pass the path of a folder in the project",
    });
  }
  const env: Environment = { ...process.env, ...(agent !== undefined && { HAVERSACK_AGENT: agent }) };
  const paths = projectPaths(cwd, env);
  // Reports wrong values once. Later calls use the defaults silently.
  usableConfig(paths, onWarning);
  const kept = new KeptProject({ cwd, env });
  const live = new LiveWork(kept, onWarning);
  const liveSkills = new LiveSkills({ project: kept, log: (_, text) => onWarning(text) });
  const sessionId = env["CLAUDE_CODE_SESSION_ID"];
  const call = () => ({ marks: sessionId ? { sessionId } : {}, client: "library", at: new Date() });
  const project: BoundProject = {
    read: (use) => live.read(call(), use),
    write: (use) => live.write(call(), use),
  };
  return {
    root: paths.root,
    skills: bindSkills(liveSkills, client),
    work: bindWork(project),
    agents: bindAgents(project),
    artifacts: bindArtifacts(project, { client }),
    wake: (request = {}) =>
      project.read(async (parts) => {
        liveSkills.checkNow();
        const woken = await wakeAgent({ client, ...atBranch(parts), ...request }, parts);
        return woken.kind === "nothing" ? woken : toWakeAnswer(woken.packet);
      }),
    close: () => {
      void live.close();
      liveSkills.close();
    },
  };
}

/** Async although the index is local, so callers need not change if that changes. */
function bindSkills(skills: LiveSkills, client: OpenOptions["client"]): Skills {
  return {
    list: async () =>
      skills.list().map(({ id, name, description, path, sourceLabel, modelInvocable }) => {
        return { id, name, description, path, source: sourceLabel, modelInvocable };
      }),
    match: async (prompt, options = {}) => {
      const { format, text, tokens, skills: found } = skills.match(prompt, { client, ...options });
      const toMatched = ({ id, name, confidence, reasons, disclosure }: MatchedSkill) => {
        return { id, name, confidence, reasons, disclosure };
      };
      return { format, text, tokens, skills: found.map(toMatched) };
    },
    search: async (query, { limit = 8 } = {}) =>
      skills.search(query, { limit }).found.map(({ id, name, brief, confidence }) => ({ id, name, brief, confidence })),
    load: async (name, { session, agentId, ...options } = {}) => {
      const key = session === undefined ? undefined : { sessionId: session, ...(agentId !== undefined && { agentId }) };
      return skills.load({ name, marks: {}, at: new Date(), ...(key && { session: key }), ...options });
    },
    readResource: async (name, path) => skills.readResource(name, path),
  };
}

/** The tables define which operations write. */
function bindWork(project: BoundProject): WorkOperations {
  const bound = (cases: Record<string, unknown>, run: BoundProject["read"]) =>
    Object.entries(cases).map(([name, useCase]) => {
      const call = useCase as (input: unknown, parts: unknown) => Promise<unknown>;
      return [name, (input: unknown = {}) => run((parts) => call(input, parts))];
    });
  const operations = [...bound(WORK_READS, project.read), ...bound(WORK_WRITES, project.write)];
  // The entries come from the same two tables as the type.
  return Object.fromEntries(operations) as unknown as WorkOperations;
}

function bindAgents({ read, write }: BoundProject): Agents {
  return {
    add: (input) => write(async (parts) => (await addAgent(input, parts)).agent),
    list: (input = {}) => read(async (parts) => (await listAgents(input, parts)).items),
    show: (input) => read(async (parts) => (await showAgent(input, parts)).agent),
    remove: (input) => write((parts) => removeAgent(input, parts)),
    send: (input) =>
      write(async (parts) => {
        const { id, to } = await sendMessage({ ...atBranch(parts), ...input }, parts);
        return { id, to };
      }),
    inbox: (input = {}) =>
      write(async (parts) => {
        const { messages, total, leftOut } = await readInbox({ ...atBranch(parts), ...input }, parts);
        return { messages, total, leftOut };
      }),
  };
}

function bindArtifacts(project: BoundProject, { client }: { client?: string | undefined }): ArtifactOperations {
  const partsOf = ({ handle, store, ...place }: LiveParts) => artifactParts(handle, { ...place, work: store, client });
  const reading = <T>(use: (parts: ArtifactParts) => Promise<T>) =>
    project.read(async (open) => use(await partsOf(open)));
  const writing = <T>(use: (parts: ArtifactParts) => Promise<T>) =>
    project.write(async (open) => use(await partsOf(open)));
  return {
    dispatch: (request) => writing((parts) => dispatchRole(request, parts)),
    refs: (request) => project.read(async (place) => artifactRefs(request, place)),
    section: (request) => project.read(async (place) => readSection(request, place)),
    recordReview: (request) => writing((parts) => recordReview(request, parts)),
    reviews: ({ feature }) => reading(async (parts) => parts.store.listLoops(openFeature(feature, parts).key)),
    decideIssue: (request) => writing((parts) => decideIssue(request, parts)),
    receipts: (query = {}) => reading((parts) => reportReceipts(query, parts)),
    check: (request = {}) => project.read(async (place) => checkArtifacts(request, place)),
    audit: (request) =>
      project.read(async (place) => auditFolder(request, { ...place, countTokens: await cappedCounter() })),
  };
}

/** If several agents share a name, use the one on the branch of the working folder. */
function atBranch({ cwd }: Pick<LiveParts, "cwd">): { branch?: string | undefined } {
  return { branch: gitPlace(cwd).branch };
}

function toWakeAnswer({ text, state, leftOut, problems }: WakeUp): WakeAnswer {
  const { agent, task, skills, missing } = state;
  return {
    kind: "packet",
    text,
    ...(agent.name !== "" && { agent: agent.name }),
    ...(task && { taskId: task.id }),
    skills: skills.map(({ id, because }) => ({ id, because })),
    leftOut: leftOut.map(({ key, count, how }) => ({ what: key, count, ...(how !== undefined && { how }) })),
    missing: [...missing],
    problems: [...problems],
  };
}
