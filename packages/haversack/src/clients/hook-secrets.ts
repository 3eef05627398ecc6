/**
 * Whether a text is worth the patterns of may-hold-secret.ts, which cost a new process a third of a millisecond. Never wrong in that
 * direction: the test holds it against them. The hook bundles this file.
 */
export function isWorthMasking(text: string): boolean {
  const lower = text.toLowerCase();
  const holds = (part: string) => lower.includes(part);
  if (holds("-") || holds("_") || ANYWHERE.some(holds)) return true;
  if ((holds(":") || holds("=")) && BEFORE_A_VALUE.some(holds)) return true;
  return CAPITALS.some((part) => text.includes(part)) || hasAwsKey(text);
}

const ANYWHERE = [
  "bearer",
  "basic",
  "authorization",
  "curl",
  "private key",
  "xox",
  "slack.com",
  "ya29",
  "hvs.",
  "hvb.",
];
const BEFORE_A_VALUE = ["pass", "pwd", "secret", "token", "key", "://", ":aa"];
const CAPITALS = ["AIza", "GOCSPX", "SG.", "SK", "eyJ"];

/** AKIA, ASIA, ABIA, ACCA. */
function hasAwsKey(text: string): boolean {
  for (let at = text.indexOf("A"); at >= 0; at = text.indexOf("A", at + 1)) if (text[at + 3] === "A") return true;
  return false;
}
