/** A scenario: a project in a certain state, and what clients then send. Playing it produces the content of the golden file. */
import { chosenDriver, type Driver } from "./driver.ts";
import { newProject, type Project } from "./project.ts";
import { type Client, type Fields, merged, recorded } from "./recorded.ts";
import { changesBetween, type Digest, logLines, storeDigest } from "./store-digest.ts";

export interface Scenario {
  /** Name of the golden file. */
  name: string;
  about: string;
  /** Prepares the project before the first step. */
  seed(project: Project): Promise<void> | void;
  steps: readonly Step[];
}

export type Step = EventStep | RawStep | OtherStep;

/** A recorded event, with changes. */
export interface EventStep {
  recorded: string;
  with?: Fields;
  env?: Record<string, string>;
  /** Time that passes before the event, in milliseconds. Default: ten seconds. */
  after?: number;
  isReader?: boolean;
}

/** An event that no client sends. */
export interface RawStep {
  raw: string;
  stdin: string;
}

/** Something else that happens in between; only its name is stored. */
export interface OtherStep {
  meanwhile: string;
  do(project: Project, driver: Driver): Promise<unknown> | unknown;
}

export interface Played {
  scenario: string;
  about: string;
  steps: Fields[];
}

const STEP_MS = 10_000;

export async function play(
  client: Client,
  { name, about, seed, steps }: Scenario,
  driver = chosenDriver(),
): Promise<Played> {
  const project = newProject();
  try {
    await seed(project);
    const kept: Played = { scenario: `${client}: ${name}`, about, steps: [] };
    let before = storeDigest(project) ?? new Map();
    for (const step of steps) {
      if ("meanwhile" in step) {
        await step.do(project, driver);
        before = storeDigest(project) ?? before;
        kept.steps.push({ meanwhile: step.meanwhile });
        continue;
      }
      const [played, after] = await playEvent(client, step, { project, driver, before });
      before = after;
      kept.steps.push(played);
    }
    return kept;
  } finally {
    await driver.end();
    await project.end();
  }
}

async function playEvent(
  client: Client,
  step: EventStep | RawStep,
  { project, driver, before }: { project: Project; driver: Driver; before: Digest },
): Promise<[Fields, Digest]> {
  const lines = logLines(project).length;
  project.pass("raw" in step ? STEP_MS : (step.after ?? STEP_MS));
  const sent =
    "raw" in step ? { event: "", payload: project.placed(step.stdin), env: {} } : sentBy(client, step, project);
  const { stdout, exit, stderr } = await driver.answer({ client, ...sent }, project);
  const digest = storeDigest(project);
  const wrote = digest ? changesBetween(before, digest) : "(nobody can read the store now)";
  const log = logLines(project).slice(lines);
  const given = "raw" in step ? { raw: step.raw, stdin: step.stdin } : shownStep(step);
  return [
    {
      ...given,
      answer: readable(project.normal(stdout)),
      ...(exit !== 0 && { exit }),
      ...(stderr && { stderr: project.normal(stderr).split("\n") }),
      ...(Object.keys(wrote).length > 0 && { wrote }),
      ...(log.length > 0 && { log }),
    },
    digest ?? before,
  ];
}

function sentBy(
  client: Client,
  { recorded: name, with: changes = {}, env = {}, isReader }: EventStep,
  project: Project,
) {
  const { payload, envNames = [], hook = "", input, output } = project.placed(recorded(client, name));
  const reader = isReader === undefined ? {} : { isReader };
  const own = project.placed({ changes, env });
  if (!payload) return { event: hook, payload: merged({ input, output }, own.changes), env: own.env, ...reader };
  const sent = merged(payload, own.changes);
  return {
    event: String(sent["hook_event_name"]),
    payload: sent,
    env: { ...clientEnvironment(envNames, sent, project), ...own.env },
    ...reader,
  };
}

/** Claude Code's variables that Haversack reads. */
function clientEnvironment(names: readonly string[], payload: Fields, { root }: Project): Record<string, string> {
  const values: Record<string, string> = {
    CLAUDECODE: "1",
    CLAUDE_CODE_SESSION_ID: String(payload["session_id"]),
    CLAUDE_PROJECT_DIR: root,
    // Our own process, because it lives as long as the session.
    CLAUDE_PID: String(process.pid),
  };
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

function shownStep({ recorded: name, with: changes, env, after, isReader }: EventStep): Fields {
  return {
    recorded: name,
    // Drops undefined fields, which JSON cannot hold.
    ...(changes && { with: JSON.parse(JSON.stringify(changes, (_, value) => (value === undefined ? null : value))) }),
    ...(env && { env }),
    ...(after !== undefined && { after }),
    ...(isReader && { isReader }),
  };
}

/** An answer is JSON with long texts: multi-line texts become lists of lines. */
function readable(stdout: string): unknown {
  if (stdout === "") return "";
  try {
    return JSON.parse(stdout, (_, value) =>
      typeof value === "string" && value.includes("\n") ? value.split("\n") : value,
    );
  } catch {
    return stdout.split("\n");
  }
}
