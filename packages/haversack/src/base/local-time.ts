/** Days and times as the user reads them: in this machine's time zone, sortable. */

/** 2026-11-18 */
export function localDay(at: Date): string {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** 2026-11-18 09:05 */
export function localMinute(at: Date): string {
  return `${localDay(at)} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
