/**
 * JSON with comments, as some clients accept it in their settings. Comments become spaces, so that every offset stays what it was.
 * Loaded by the hook.
 */
export function withoutComments(text: string): string {
  if (!text.includes("//") && !text.includes("/*")) return text;
  let plain = "";
  let from = 0;
  // No pattern: one string may have megabytes.
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (text[at] === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      const end = commentEnd(text, at);
      plain += text.slice(from, at) + text.slice(at, end).replace(/[^\r\n]/g, " ");
      from = end;
      at = end - 1;
    }
  }
  return plain + text.slice(from);
}

function commentEnd(text: string, start: number): number {
  const isLine = text[start + 1] === "/";
  const end = isLine ? text.slice(start).search(/[\r\n]/) : text.indexOf("*/", start + 2);
  if (end < 0) return text.length;
  return isLine ? start + end : end + 2;
}
