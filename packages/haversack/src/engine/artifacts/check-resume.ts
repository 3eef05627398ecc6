/**
 * Whether a client can go on with an agent that has used tools: tried once, with a real agent, before anything relies on it.
 * `doctor` shows what is known; the trial itself calls a model and therefore runs only when a person asks for it.
 */
import { cleanLine } from "../../base/clean-text.ts";
import { errorText } from "../../base/errors.ts";
import type { ArtifactStore, ResumeCheck } from "../../store/artifact-store.ts";
import type { Finding } from "../wiring.ts";

/** What an adapter offers: start an agent that may read files, and go on with it. */
export interface ResumableClient {
  name: string;
  start(prompt: string): Promise<{ agentId: string; answer: string }>;
  resume(agentId: string, prompt: string): Promise<{ answer: string }>;
}

/** `file` holds `word` and nothing that a model could guess it from. What came of it is kept, also a failure. */
export async function tryResume(
  client: ResumableClient,
  { file, word, store, now }: { file: string; word: string; store: ArtifactStore; now: Date },
): Promise<ResumeCheck> {
  const check = { client: client.name, at: now, ...(await attempt(client, { file, word })) };
  await store.recordResumeCheck(check);
  return check;
}

async function attempt(
  client: ResumableClient,
  { file, word }: { file: string; word: string },
): Promise<{ isOk: boolean; text: string }> {
  try {
    const { agentId } = await client.start(`Read the file ${file} with your Read tool. Then answer only: done`);
    if (agentId === "") return { isOk: false, text: "the client named no agent to go on with" };
    const { answer } = await client.resume(agentId, "Without a tool: which word stood in the file you have read?");
    return answer.includes(word)
      ? { isOk: true, text: "an agent that had read a file went on and still knew it" }
      : { isOk: false, text: `the agent went on without its memory: ${cleanLine(answer, { maxChars: 200 })}` };
  } catch (error) {
    return { isOk: false, text: cleanLine(errorText(error), { maxChars: 300 }) };
  }
}

/** One line for `doctor` per client; nothing while the setting is off. */
export async function checkResume(
  { isEnabled, clients }: { isEnabled: boolean; clients: readonly string[] },
  { store }: { store: ArtifactStore },
): Promise<Finding[]> {
  if (!isEnabled) return [];
  const findings: Finding[] = [];
  for (const client of clients) {
    const part = `${client} resume`;
    const check = await store.getResumeCheck(client);
    if (check?.isOk) findings.push({ part, level: "ok", text: `${check.text} (${check.at.toISOString()})` });
    else {
      findings.push({
        part,
        level: "warn",
        text: check ? `failed: ${check.text}` : "artifacts.resume is on, and nobody has tried it with this client",
        remedy: "dispatches are fresh until a trial succeeds; set artifacts.resume to false to be rid of this line",
      });
    }
  }
  return findings;
}
