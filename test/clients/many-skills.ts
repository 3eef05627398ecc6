/** Sixty skills of the usual length, for tests that measure what a client's own listing of them costs. */
import type { Scratch } from "./scratch.ts";

const THINGS = "invoices reports migrations fixtures dashboards pipelines caches queues schemas tokens".split(" ");
const ACTS = "audit draft merge rename split trace".split(" ");

export const MANY = ACTS.flatMap((act) => THINGS.map((thing) => `${act}-${thing}`));

/** What the listing has of each; no name stands in another. */
export function manyDescription(name: string): string {
  const [act, thing] = name.split("-");
  return `Use this to ${act} ${thing}: checks which ${thing} are there, asks what is missing, works through them one by one, and says at the end which of the ${thing} need a second look. Do not use it for anything but ${thing}.`;
}

export function writeMany(repo: Pick<Scratch, "write">, folder: string): void {
  for (const name of MANY) {
    const front = `---\nname: ${name}\ndescription: ${JSON.stringify(manyDescription(name))}\n---\n`;
    repo.write(`${folder}/${name}/SKILL.md`, `${front}\nBODY-OF-${name}\n`);
  }
}

/** As `writeMany` has written them. */
export function manySkills(root: string, folder: string) {
  return MANY.map((name) => ({
    name,
    description: manyDescription(name),
    path: `${root}/${folder}/${name}/SKILL.md`,
  }));
}

/** A prompt that one of them fits, and its name. */
export const FITTING = { name: "audit-invoices", prompt: "Audit the invoices and say which need a second look." };

/** Which of them a text lists. */
export function listedIn(text: string): string[] {
  return MANY.filter((name) => new RegExp(`(?<![\\w/-])${name}(?![\\w/-])`).test(text));
}
