/** Files that a command is given by name. Whatever the command: a missing one exits 1, a folder in its place 2, others that cannot be read 3. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { HaversackError } from "../base/errors.ts";
import type { Call } from "./command.ts";

/** `hint`: what else the command takes. */
export function readNamedFile({ io }: Pick<Call, "io">, file: string, { hint }: { hint?: string } = {}): string {
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    throw unreadableFile(file, error, { ...(hint !== undefined && { hint }) });
  }
}

function unreadableFile(file: string, cause: unknown, { hint }: { hint?: string }): HaversackError {
  const { code } = cause as NodeJS.ErrnoException;
  const more = { cause, ...(hint !== undefined && { hint }) };
  if (code === "ENOENT" || code === "ENOTDIR") return new HaversackError("not-found", `there is no file ${file}`, more);
  if (code === "EISDIR") return new HaversackError("usage", `${file} is a folder, and a file is needed`, more);
  return new HaversackError("file-unreadable", `${file}: cannot be read (${code})`, { cause });
}
