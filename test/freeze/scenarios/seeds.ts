/** States of projects, made with Haversack's own commands. */
import type { Project } from "../project.ts";
import type { OtherStep } from "../scenario.ts";
import { type Voice, writeClientFiles } from "./voices.ts";

export const PDF_PROMPT = "Fill this PDF form and extract the form fields from it.";
export const OTHER_PROMPT = "What is the weather like today?";
/** Ids are counted: the first thing of a project. */
export const TASK = "T1001";

/** Nothing but a store. */
export async function bare(voice: Voice, project: Project): Promise<void> {
  project.git("init", "--quiet", "--initial-branch=main");
  project.write("a.txt", "alpha\nbeta\n");
  project.write(".gitignore", ".haversack/\n");
  project.git("add", "--all");
  project.git("commit", "--quiet", "--message", "First");
  writeClientFiles(voice.client, project);
  await project.cli(["skill", "index"]);
}

export async function withSkills(voice: Voice, project: Project): Promise<void> {
  skill(voice, project, "pdf-forms", "Fill and read PDF forms, extract form fields from PDF documents", "Use pdftk.");
  skill(voice, project, "knots", "Tie knots: bowlines, hitches and bends", "A bowline holds.");
  skill(voice, project, "db-migrations", "Change the schema of the database", "Write a way back too.");
  skill(voice, project, "release-notes", "Write release notes from merged pull requests", "One line for each change.");
  await bare(voice, project);
}

/** Two rules: one that loads its skill, one that guards files. */
export async function withRules(voice: Voice, project: Project): Promise<void> {
  const rules = {
    skills: {
      "release-notes": { enforcement: "auto", promptTriggers: { keywords: ["changelog"] } },
      "db-migrations": {
        type: "guardrail",
        enforcement: "block",
        blockMessage: "Migrations have rules here.",
        promptTriggers: { keywords: ["migration"] },
        fileTriggers: { pathPatterns: ["db/**"], pathExclusions: ["db/notes/**"] },
      },
    },
  };
  project.write(`${voice.skills}/skill-rules.json`, JSON.stringify(rules));
  await withSkills(voice, project);
}

/** A task that is ready, with files and notes. */
export async function withTask(voice: Voice, project: Project): Promise<void> {
  await withSkills(voice, project);
  await createTask(project);
}

export async function createTask(project: Project, title = "Fill in the PDF form"): Promise<void> {
  await project.cli(["task", "create", title, "--description", "All fields of the form.\nDates are ISO dates."]);
}

/** A command in the shell of a session of the client. */
export function inShell(voice: Voice, words: readonly string[], session = voice.session, stdin = ""): OtherStep {
  return {
    meanwhile: `haversack ${words.join(" ")} (in the shell of ${session})`,
    do: (project) => project.cli(words, { HAVERSACK_SESSION: `${voice.client}/${session}` }, stdin),
  };
}

export function byHand(...words: string[]): OtherStep {
  return { meanwhile: `haversack ${words.join(" ")}`, do: (project) => project.cli(words) };
}

/** A tool writes it: git sees it too. */
export function written(path: string, text = "x\n"): OtherStep {
  return { meanwhile: `${path} is written`, do: (project) => project.write(path, text) };
}

export function passing(text: string, ms: number): OtherStep {
  return { meanwhile: text, do: (project) => project.pass(ms) };
}

function skill({ skills }: Voice, project: Project, name: string, description: string, body: string): void {
  project.write(
    `${skills}/${name}/SKILL.md`,
    `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}\n`,
  );
}
