/** Paths as stored in WIP: relative to the project's root if inside it, with `/` between folders. */
import { PATH_MAX_CHARS, safeLine, safeStart } from "./capture/output-text.ts";

export interface Place {
  root?: string | undefined;
  cwd?: string | undefined;
}

/** "" is the root itself. */
export function projectPath(path: string, { root, cwd }: Place): string {
  // Mask first: `https://me:secret@host/x` is no longer recognized as a URL once its slashes are normalized.
  const full = joinPath(cwd ?? root ?? "", safeStart(path, PATH_MAX_CHARS * 2));
  const base = root && joinPath("", root);
  return safeLine(base && `${full}/`.startsWith(`${base}/`) ? full.slice(base.length + 1) : full, PATH_MAX_CHARS);
}

/** Works only if the root is known: `../x` and absolute paths are outside. */
export function isOutside(path: string): boolean {
  return /^(?:\/|[A-Za-z]:|\.\.\/)/.test(path);
}

export function joinPath(base: string, path: string): string {
  const isAbsolute = /^(?:[/\\]|[A-Za-z]:)/.test(path);
  const whole = (isAbsolute || base === "" ? path : `${base}/${path}`).replaceAll("\\", "/");
  const steps: string[] = [];
  for (const step of whole.split("/")) {
    if (step === ".." && steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return (whole.startsWith("/") ? "/" : "") + steps.join("/");
}
