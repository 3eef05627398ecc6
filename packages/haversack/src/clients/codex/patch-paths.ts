/**
 * The files that a patch of `apply_patch` touches, in its order: of a moved file the old and the new name. As written in the patch;
 * with the folder of the call absolute, and without the dots by which one file has many names. Loaded by the hook.
 */
export function patchPaths(patch: string, cwd?: string): string[] {
  const paths: string[] = [];
  // A line of a file's content begins with a space, `+` or `-`: it never looks like a header.
  for (const [, path = ""] of patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\r?$/gm)) {
    const file = cwd === undefined ? path : inFolder(path.trim(), cwd);
    if (!paths.includes(file)) paths.push(file);
  }
  return paths;
}

function inFolder(path: string, cwd: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
