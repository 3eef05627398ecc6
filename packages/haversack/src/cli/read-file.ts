/** Files that a command is given by name. Whatever the command: a missing one exits 1, a folder in its place 2, others that cannot be read 3. */
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
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

/** The path of a file that a command is to write. Its folder must be there. */
export function targetFile({ io }: Pick<Call, "io">, file: string): string {
  const path = resolve(io.cwd, file);
  const look = (at: string) => statSync(at, { throwIfNoEntry: false });
  if (!look(dirname(path))?.isDirectory()) throw new HaversackError("not-found", `there is no folder ${dirname(file)}`);
  if (look(path)?.isDirectory()) throw new HaversackError("usage", `${file} is a folder, and a file is needed`);
  return path;
}

function unreadableFile(file: string, cause: unknown, { hint }: { hint?: string }): HaversackError {
  const { code } = cause as NodeJS.ErrnoException;
  const more = { cause, ...(hint !== undefined && { hint }) };
  if (code === "ENOENT" || code === "ENOTDIR") return new HaversackError("not-found", `there is no file ${file}`, more);
  if (code === "EISDIR") return new HaversackError("usage", `${file} is a folder, and a file is needed`, more);
  return new HaversackError("file-unreadable", `${file}: cannot be read (${code})`, { cause });
}
