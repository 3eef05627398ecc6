/**
 * Code fences of Markdown, line by line: the fence that is open after a line, with its indentation; "" for none. A fence is
 * closed by its own mark, at least as long, alone on its line, and indented at most three columns more: a fence that is shown
 * inside of another is indented by four. One that is never closed goes to the end. Loaded by the hook.
 */
export function nextFence(open: string, line: string): string {
  const body = line.trimStart();
  const mark = body[0];
  if (mark !== "`" && mark !== "~") return open;
  let length = 0;
  while (body[length] === mark) length++;
  if (length < 3) return open;
  const rest = body.slice(length);
  const indent = line.length - body.length;
  if (open !== "") {
    const own = open.trimStart();
    const isNear = indent <= open.length - own.length + 3;
    return mark === own[0] && length >= own.length && isNear && rest.trim() === "" ? "" : open;
  }
  // `` ```x``` `` on one line is code within a sentence.
  return mark === "`" && rest.includes("`") ? "" : " ".repeat(indent) + mark.repeat(length);
}
