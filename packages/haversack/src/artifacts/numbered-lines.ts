/**
 * A text as a client's Read tool returns it, with a number before each line: what a reference really costs its reader. Claude
 * Code writes the number, a tab and the line.
 */
export function numberLines(text: string): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, index) => `${index + 1}\t${line}`).join("\n");
}
