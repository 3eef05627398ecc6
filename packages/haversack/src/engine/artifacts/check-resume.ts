/**
 * Tests once, with a real agent, whether a client can resume an agent that has used tools, before anything relies on it. `doctor` shows the
 * result. The test calls a model, so it runs only when a person asks for it.
 */
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ResumeWay, resumeName } from "../../artifacts/resume-prompt.ts";
import { cleanLine } from "../../base/clean-text.ts";
import { errorText } from "../../base/errors.ts";
import { makeScratch, putFile, removeFile, removeScratch } from "../../base/safe-write.ts";
import type { ResumeCheck } from "../../store/artifact-records.ts";
import type { SqliteArtifactStore } from "../../store/sqlite/artifacts/artifact-store.ts";
import type { Environment } from "../project.ts";
import type { Finding } from "../wiring.ts";

/** Offered by an adapter: start an agent that may read files, and resume it. */
export interface ResumableClient {
  client: string;
  way: ResumeWay;
  start(prompt: string, place: TrialPlace): Promise<{ agentId: string; answer: string }>;
  resume(agentId: string, prompt: string, place: TrialPlace): Promise<{ answer: string }>;
}

export interface TrialPlace {
  /** A folder made for the trial. */
  cwd: string;
  env: Environment;
}

/**
 * An agent reads a file with a word that no model can guess. The file is deleted, then the agent is asked for the word. The result is
 * stored, even a failure.
 */
export async function tryResume(
  client: ResumableClient,
  { store, env, now }: { store: SqliteArtifactStore; env: Environment; now: Date },
): Promise<ResumeCheck> {
  const cwd = makeScratch(join(tmpdir(), "haversack-resume-"));
  try {
    // Switch off our own hooks in the trial's sessions, in case they are wired for all projects.
    const outcome = await attempt(client, { cwd, env: { ...env, HAVERSACK: "0" } });
    const check = { client: resumeName(client.client, client.way), at: now, ...outcome };
    await store.recordResumeCheck(check);
    return check;
  } finally {
    removeScratch(cwd);
  }
}

async function attempt(client: ResumableClient, place: TrialPlace): Promise<{ isOk: boolean; text: string }> {
  const file = join(place.cwd, "word.txt");
  const word = `kestrel-${randomBytes(4).toString("hex")}`;
  const who = client.way === "session" ? "a session" : "a sub-agent";
  try {
    putFile(file, `${word}\n`, { within: place.cwd });
    const { agentId } = await client.start(`Read the file ${file}. Then answer only: done`, place);
    if (agentId === "") return { isOk: false, text: "the client named no agent to go on with" };
    removeFile(file, { within: place.cwd });
    const { answer } = await client.resume(
      agentId,
      "Without a tool: which word stood in the file you have read?",
      place,
    );
    return answer.includes(word)
      ? { isOk: true, text: `${who} that had read a file was resumed and still knew it` }
      : { isOk: false, text: `${who} was resumed without its memory: ${cleanLine(answer, { maxChars: 200 })}` };
  } catch (error) {
    return { isOk: false, text: cleanLine(errorText(error), { maxChars: 300 }) };
  }
}

export function describeCheck({ client, isOk, text, at }: ResumeCheck): Finding {
  const part = `${client} resume`;
  if (isOk) return { part, level: "ok", text: `${text} (${at.toISOString()})` };
  const [name] = client.split(" ");
  const remedy = `dispatches stay fresh; once the cause is fixed, \`haversack doctor --try-resume ${name}\` tries again`;
  return { part, level: "warn", text: `failed: ${text}`, remedy };
}

/** One line for `doctor` per client and way; nothing if the setting is off. */
export async function checkResume(
  { isEnabled, clients }: { isEnabled: boolean; clients: readonly string[] },
  { store }: { store: SqliteArtifactStore },
): Promise<Finding[]> {
  if (!isEnabled) return [];
  const findings: Finding[] = [];
  for (const client of clients) {
    const names = [resumeName(client, "sub-agent"), resumeName(client, "session")];
    const checks = await Promise.all(names.map((name) => store.getResumeCheck(name)));
    const known = checks.filter((check) => check !== undefined);
    findings.push(...known.map(describeCheck));
    if (known.length > 0) continue;
    findings.push({
      part: `${client} resume`,
      level: "warn",
      text: "artifacts.resume is on, but was never tried with this client: dispatches are fresh until then",
      remedy: `\`haversack doctor --try-resume ${client}\` tries it, with a few short requests to your model`,
    });
  }
  return findings;
}
