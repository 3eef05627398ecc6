/**
 * Whether masking could change a text. Never wrong in that direction (a test holds it against `maskSecrets`), and so much
 * cheaper that the hook loads the patterns of mask.ts only for a text that may need them.
 */
export function mayHoldSecret(text: string): boolean {
  return PLACES.test(text) || BEGINNINGS.test(text);
}

/** A word of that kind with a sign of assignment behind it, a header, a password in an address, a flag that takes one. */
const PLACES =
  /(?:pass|pwd|secret|token|key)[\w\\"'`\]?\s-]{0,60}[:=]|bearer|basic\s|authorization|:\/\/[^\s@]*@|--[a-z-]*(?:pass|token|secret|key)|curl|private key/i;

/** How keys of known makers begin. */
const BEGINNINGS =
  /(?<![A-Za-z0-9])(?:sk|pplx|xai|nvapi|tskey|xapp|pypi|gl[a-z]{2,5})-|(?:gsk|r8|figd|lin_api|sbp|rubygems|dop_v1|shpat|shpss|sntrys|dckr_pat|gh[opsur]|github_pat|npm|hf|[srp]k|whsec)_|xox|slack\.com|A[KSBC][ICA]A|AIza|GOCSPX|ya29|SG\.|SK[0-9a-f]|:AA|hv[sb]\.|AGE-|eyJ/;
