/** Breaks a text for people into lines that end between words. */

/** `width`: characters; undefined (no terminal) or too narrow to be of use: one line, and the terminal breaks it where it likes. */
export function wrapText(text: string, width: number | undefined): string[] {
  if (width === undefined || width < MIN_WIDTH) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Whole help texts: what is broken goes on below where its column begins. */
export function wrapColumns(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => {
      if (line.length <= width) return [line];
      const head = /^ {2,}\S.*? {2,}(?=\S)|^ */.exec(line)?.[0] ?? "";
      const [first = "", ...rest] = wrapText(line.slice(head.length), width - head.length);
      return [`${head}${first}`, ...rest.map((one) => `${" ".repeat(head.length)}${one}`)];
    })
    .join("\n");
}

/** Lines for a person, such as errors: what is broken goes on with a small indent. */
export function wrapLines(text: string, width: number | undefined): string {
  // A line that moves the cursor is drawn as it is.
  if (width === undefined || /[\r\u001b]/.test(text)) return text;
  return text
    .split("\n")
    .map((line) => (line.length <= width ? line : wrapText(line, width - INDENT.length).join(`\n${INDENT}`)))
    .join("\n");
}

const INDENT = "  ";
const MIN_WIDTH = 16;
