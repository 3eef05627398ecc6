/**
 * Which commands of a line succeeded and which failed, as far as the exit code of the whole line can tell. A pipe hides
 * the code of what stands before it, `;` that of the command before, and a failed `a && b` may have ended at either.
 */
import { programsIn, type ShellPart } from "./shell-words.ts";

export type Outcome = "ok" | "failed" | "unknown";

export interface LineEnd {
  exitCode?: number | undefined;
  isError?: boolean | undefined;
  /** The readable output. */
  text: string;
}

export function commandOutcomes(parts: readonly ShellPart[], end: LineEnd): Outcome[] {
  const outcomes = parts.map((): Outcome => "unknown");
  let exitCode = lineExitCode(end);
  let last = parts.length - 1;

  // `npm test; echo "exit: $?"`: the code is in the output.
  const echo = parts[last]?.words.join(" ") ?? "";
  if (last > 0 && /^(?:echo|printf)\b.*(?:\$\?|PIPESTATUS)/.test(echo)) {
    const isPiped = parts[last - 1]!.joint === "|";
    const code = isPiped && echo.includes("$?") ? undefined : /(\d+)\D*$/.exec(end.text.slice(-80).trimEnd())?.[1];
    exitCode = code === undefined ? undefined : Number(code);
    last--;
    if (isPiped && exitCode !== undefined) {
      while (last > 0 && parts[last]!.joint === "|") last--;
      outcomes[last] = exitCode === 0 ? "ok" : "failed";
      return outcomes;
    }
  }
  if (exitCode === undefined) return outcomes;

  const hasPipefail = parts.some(({ words }) => words[0] === "set" && words.includes("pipefail"));
  /** Commands that the exit code speaks of, last first. */
  const chain: number[] = [];
  let hasAlternative = false;
  for (let at = last; at >= 0; at--) {
    const { joint } = parts[at]!;
    const feedsPipe = at < last && parts[at + 1]!.joint === "|";
    if ((!feedsPipe || hasPipefail) && !isTrivial(parts[at]!)) chain.push(at);
    if (joint === ";" || joint === "") break;
    if (joint === "||") hasAlternative = true;
  }
  if (exitCode === 0 && !hasAlternative) for (const at of chain) outcomes[at] = "ok";
  if (exitCode !== 0 && chain.length === 1) outcomes[chain[0]!] = "failed";
  return outcomes;
}

/** Clients that hand over only text begin it with the code. */
export function lineExitCode({ exitCode, isError, text }: LineEnd): number | undefined {
  const stated = /^exit code:? (\d+)/i.exec(text)?.[1];
  return exitCode ?? (stated ? Number(stated) : isError === undefined ? undefined : Number(isError));
}

/** Steps that do not fail in earnest. */
function isTrivial({ words }: ShellPart): boolean {
  return /^(?:cd|pushd|popd|echo|printf|export|source|\.|set|unset|pwd|true|:|exit|sleep|mkdir)$/.test(
    programsIn(words)[0]?.[0] ?? "",
  );
}
