/**
 * The files that a patch of `apply_patch` touches, in its order: of a moved file the old and the new name. As written in the patch,
 * so usually relative to the folder of the call. Loaded by the hook.
 */
export function patchPaths(patch: string): string[] {
  const paths: string[] = [];
  // A line of a file's content begins with a space, `+` or `-`: it never looks like a header.
  for (const [, path = ""] of patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\r?$/gm)) {
    if (!paths.includes(path)) paths.push(path);
  }
  return paths;
}
