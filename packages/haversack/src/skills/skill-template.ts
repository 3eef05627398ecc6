/** The description that `skills new` writes when it is given none: a text to replace, which `skills check` knows again. */

export function templateDescription(name: string): string {
  return `${BEGINNING} (say when ${name} is needed, in the words a user would type).`;
}

/** Also when only its end was taken out. */
export function isTemplateDescription(description: string): boolean {
  return description.startsWith(BEGINNING);
}

const BEGINNING = "Use when …";
