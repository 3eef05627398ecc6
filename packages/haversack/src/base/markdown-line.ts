/**
 * What a line of Markdown is, by its first characters. By hand: each pattern costs a process that has just started as much as a
 * hundred such lines. Loaded by the hook.
 */

/** `## Title` has 2; 0: it is no heading. */
export function headingLevel(line: string): number {
  let level = 0;
  while (level < 7 && line[level] === "#") level++;
  return level <= 6 && line[level] === " " ? level : 0;
}

/** Begins or ends a block of code. */
export function isFence(line: string): boolean {
  if (!line.includes("```") && !line.includes("~~~")) return false;
  const body = line.trimStart();
  return body.startsWith("```") || body.startsWith("~~~");
}
