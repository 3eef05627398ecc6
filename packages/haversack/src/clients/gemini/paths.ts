/** Paths in Gemini CLI's tool inputs are often relative to the folder that the session was started in. Loaded by the hook. */
export function resolvePath(path: string, cwd: string): string {
  if (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) return path;
  return `${cwd}/${path.replace(/^(?:\.\/)+/, "")}`;
}
