/**
 * Splits a shell line into its commands and their words, well enough to know which programs ran: quotes, substitutions, here-documents,
 * redirections. One pass, no recursion. Words in a commit message are not commands.
 */
export interface ShellPart {
  words: string[];
  /** The operator before the command; "" at the start. A new line and `&` count as `;`. */
  joint: "" | "&&" | "||" | ";" | "|";
  /** The file that its output was redirected to. Nobody has seen the output then. */
  writesTo?: string;
}

export const LINE_MAX_CHARS = 60_000;
/** Each part is checked many times, and real lines have fewer. */
const PARTS_MAX = 50;
const WORDS_MAX = 200;

/** The commands of a line, including those inside `bash -c "…"`. */
export function commandsIn(line: string, depth = 0): ShellPart[] {
  const commands = splitShell(line).flatMap((part) => {
    const [program = [], ...others] = programsIn(part.words);
    const script = program.findIndex((word) => /^-[a-z]*c$/.test(word)) + 1;
    if (others.length > 0 || depth > 2 || script === 0 || !/^(?:ba|z|da)?sh$/.test(program[0]!)) return [part];
    const inner = commandsIn(program[script] ?? "", depth + 1);
    if (inner[0]) inner[0] = { ...inner[0], joint: part.joint };
    return part.writesTo ? inner.map((each) => ({ ...each, writesTo: part.writesTo! })) : inner;
  });
  return commands.slice(0, PARTS_MAX);
}

export function splitShell(line: string): ShellPart[] {
  const text = withoutHereDocuments(line.slice(0, LINE_MAX_CHARS));
  const parts: ShellPart[] = [];
  /** The characters that close the open quotes and substitutions. */
  const closers: string[] = [];
  let words: string[] = [];
  let joint: ShellPart["joint"] = "";
  let word = "";
  let isWord = false;
  let isTarget = false;
  /** The next target is a redirection of standard output. */
  let isOutput = false;
  let writesTo = "";

  const endWord = (): void => {
    if (isWord && !isTarget && words.length < WORDS_MAX) words.push(word);
    if (isWord && isTarget && isOutput && !/^\/dev\/(?:std|tty|fd)/.test(word)) writesTo = word;
    if (isWord) isTarget = false;
    word = "";
    isWord = false;
  };
  const endPart = (next: ShellPart["joint"], isLineEnd = false): void => {
    endWord();
    isTarget = false;
    // After a loop or a group, the redirection applies to everything in it. Its start is not recorded, so the redirection applies to
    // all parts before it.
    if (writesTo && /^(?:done|fi|esac|\})?$/.test(words.join(" "))) {
      for (const part of parts) part.writesTo ??= writesTo;
      writesTo = "";
    }
    if (words.length > 0) {
      parts.push({ words, joint, ...(writesTo && { writesTo }) });
      words = [];
      writesTo = "";
    } else if (isLineEnd || parts.length === 0) return;
    joint = next;
  };

  for (let at = 0; at < text.length && parts.length < PARTS_MAX; at++) {
    const char = text[at]!;
    const next = text[at + 1] ?? "";
    const closer = closers.at(-1);
    const isQuoted = closer === '"';
    if (char === "\\") {
      if (next !== "\n") {
        word += closer && !(isQuoted && closers.length === 1) ? char + next : next;
        isWord = true;
      }
      at++;
    } else if (char === closer) {
      closers.pop();
      if (closers.length > 0 || !isQuoted) word += char;
    } else if (char === "'" && !isQuoted) {
      const end = text.indexOf("'", at + 1);
      word += text.slice(at + 1, end === -1 ? undefined : end);
      isWord = true;
      at = end === -1 ? text.length : end;
    } else if (char === '"' || char === "`" || (char === "$" && next === "(") || (char === "(" && closer === ")")) {
      if (char !== '"' || closer) word += char;
      if (char === "$") {
        word += "(";
        at++;
      }
      closers.push(char === "$" || char === "(" ? ")" : char);
      isWord = true;
    } else if (closer) {
      word += char;
    } else if (char === " " || char === "\t") {
      endWord();
    } else if (char === "#" && !isWord) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (char === ">" || char === "<" || (char === "&" && next === ">")) {
      isOutput = char !== "<" && (!isWord || !/^[02-9]$/.test(word));
      if (/^\d*$/.test(word)) isWord = false;
      endWord();
      while (/[<>&|]/.test(text[at + 1] ?? "")) at++;
      isTarget = true;
      if (text[at] === "&" && /[\d-]/.test(text[at + 1] ?? "")) {
        at++;
        isTarget = false;
      }
    } else if (char === "&" || char === "|") {
      const isDouble = next === char;
      if (isDouble || (char === "|" && next === "&")) at++;
      endPart(char === "&" ? (isDouble ? "&&" : ";") : isDouble ? "||" : "|");
    } else if (char === ";" || char === "(" || char === ")" || char === "\n") {
      endPart(";", char !== ";");
    } else {
      word += char;
      isWord = true;
    }
  }
  endPart("");
  return parts;
}

/** Removes here-document bodies: a commit message or a written file says nothing about what ran. */
function withoutHereDocuments(text: string): string {
  if (!text.includes("<<")) return text;
  const lines = text.split("\n");
  const lastLineOf = new Map(lines.map((line, index) => [line.trim(), index]));
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    kept.push(line);
    const end = /<<-?\s*\\?["']?(\w+)/.exec(line)?.[1];
    // No end line: it is not a here-document.
    if (end === undefined || line.includes("<<<") || (lastLineOf.get(end) ?? -1) <= at) continue;
    while (lines[at + 1]!.trim() !== end) at++;
    at++;
  }
  return kept.join("\n");
}

const PREFIX =
  /^(?:do|then|else|if|while|until|[!{]|time|sudo|env|nohup|nice|command|exec|g?timeout|stdbuf|setsid|xvfb-run|npx|bunx|pnpx|uvx|cross-env|dotenv|nyc|c8)$/;
const RUN_PREFIX = /^(?:uv|poetry|pipenv|hatch|pdm|rye|rtx|mise|bundle|coverage) (?:run|exec|x)$/;
const CONTAINER = /^(?:docker|podman|docker-compose|nerdctl|kubectl|oc|ssh|vagrant|sail|ddev|lando)$/;

/**
 * The programs that a command may run, without `sudo`, `npx`, `timeout 60` and the like, and without their folders. More than one only
 * for containers, whose options and image look like the command they run.
 */
export function programsIn(words: readonly string[]): string[][] {
  let rest = [...words];
  for (;;) {
    const first = programName(rest[0]);
    if (/^[A-Za-z_]\w*=/.test(first)) rest.shift();
    else if (PREFIX.test(first)) rest = withoutOptions(rest.slice(1));
    else if (RUN_PREFIX.test(`${first} ${rest[1]}`)) rest = withoutOptions(rest.slice(2));
    else if (
      CONTAINER.test(first) &&
      (first.length < 4 || rest.slice(1, 5).some((word) => /^(?:exec|run)$/.test(word)))
    ) {
      return rest.slice(1, 20).map((word, index) => [programName(word), ...rest.slice(index + 2)]);
    } else return rest.length > 0 ? [[first, ...rest.slice(1)]] : [];
  }
}

function programName(word = ""): string {
  return word.includes("=") ? word : word.slice(word.lastIndexOf("/") + 1).replace(/(.)@[^@]*$/, "$1");
}

function withoutOptions(words: string[]): string[] {
  const start = words.findIndex((word) => !/^-|^\d+[smh]?$|^\w+=/.test(word));
  return start === -1 ? [] : words.slice(start);
}
