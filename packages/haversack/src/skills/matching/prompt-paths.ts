/** File paths that a prompt mentions. */

/**
 * Finds words that look like a path: with a slash and a name, or with a short extension. Skips URLs, versions, abbreviations and pairs such
 * as "and/or". At most 50, in order.
 */
export function pathsInPrompt(prompt: string): string[] {
  const head = prompt.length > 20_000 ? prompt.slice(0, 20_000) : prompt;
  const found = new Set<string>();
  for (const [token] of head.matchAll(/[\w@~.$()[\]/\\-]+/g)) {
    const path = token
      .replaceAll("\\", "/")
      .replace(/^[([]+/, "")
      .replace(/[)\].,]+$/, "");
    if (isPath(path)) found.add(path.replace(/^\.\//, ""));
    if (found.size >= 50) break;
  }
  return [...found];
}

/** Globs and domains use paths relative to the project's root; clients and people also write absolute ones. */
export function fromRoot(path: string, root: string | undefined): string {
  const inside = root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return inside.startsWith("./") ? inside.slice(2) : inside;
}

function isPath(text: string): boolean {
  if (text.length < 3 || text.length > 300 || text.includes("//")) return false;
  if (/^[\d./-]+$/.test(text)) return false;
  const name = text.slice(text.lastIndexOf("/") + 1);
  const hasExtension = /[\w)\]-]\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(name) && !/^(?:e\.g|i\.e|etc)$/i.test(name);
  if (!text.includes("/")) return hasExtension && FILE_ENDINGS.test(name);
  return (
    hasExtension ||
    text.split("/").length > 2 ||
    /^(?:\.{1,2}|~|src|lib|app|test|tests|docs?|packages|internal|cmd|pkg)\//.test(text)
  );
}

/** A bare name counts as a file only with a common extension: `auth.ts` does, `Node.js` and `example.com` do not. */
const FILE_ENDINGS =
  /(?<!^node|^next|^vue|^express|^three|^d3)\.(?:[cm]?[jt]sx?|py|rb|rs|go|java|kts?|cs|fs|swift|php|c|h|cc|cpp|hpp|m|sql|sh|md|mdx|txt|json|jsonc|ya?ml|toml|xml|html?|css|scss|less|vue|svelte|tf|bicep|proto|graphql|gradle|csproj|sln|lock|env|ini|cfg|conf|csv|ipynb|docx?|xlsx?|pptx?|pdf)$/i;
