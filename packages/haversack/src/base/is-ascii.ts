/** Whether patterns for ASCII do: one with `\p` costs a new process some milliseconds, and this question nothing. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
