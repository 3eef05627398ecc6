/** Judges a value by its form: a placeholder, a name made of words, or random enough to be a key. No value is scanned twice. */

/**
 * `$TOKEN`, `${TOKEN}`, `{{ token }}`, `<token>`, `%s`, `****`, `sk-...`, `xxxx`, `YOUR_KEY`, `changeme`, a URL, a reference to a secret
 * store, or an existing mask.
 */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || /^[A-Z]{2,}(?:_[A-Z]+)+$/.test(value);
}

const PLACEHOLDER = new RegExp(
  [
    "^(?:$|",
    // Templates and variables of shells, CI systems, YAML and the like.
    String.raw`\\*\$[({]|\$[\w.:-]*$|<|\{|#\{|%[sdv({]|%\w+%$|@\w+@$|__\w+__$|[&*][\w-]+$|![a-z]+$|`,
    String.raw`[*.…•#_-]+$|0+$|\[masked:|\[?redacted|x{3,}$|#[0-9a-f]{3,8}$|--?[a-z][a-z-]{0,20}$|`,
    String.raw`your(?:[ _-]|\w*(?:key|token|secret|pass))|replace[_-]?(?:me|this|with)|change[_-]?(?:me|it|this)\W*$|`,
    "(?:insert|enter|put|paste|fill|add)[_-]|placeholder|to[_-]?do$|fixme|",
    // URLs and references to entries of a secret store.
    String.raw`https?:\/\/|(?:op|vault|ssm|arn|env|file|secret(?:s|ref|smanager)?|keyring|keychain|ref\+\w+|azurekeyvault)[:/]|projects\/[\w-]+\/secrets`,
    String.raw`)|\.{3}|…|[_-]here$|(?:x{5}|\*{3}|•{3})$`,
  ].join(""),
  "i",
);

/** Type names, literals, and words that follow "password" in forms and prose. */
export function isOrdinaryWord(value: string): boolean {
  return value.length < 20 && ORDINARY.test(value);
}

const ORDINARY =
  /^(?:string|str|text|varchar|char|keyword|uuid|number|int|integer|float|double|long|byte|bytes|buffer|boolean|bool|date|any|unknown|never|void|object|array|list|map|dict|null|nil|none|undefined|true|false|yes|no|on|off|ok|ask|default|production|development|environment|staging|inherit|required|optional|mandatory|missing|invalid|valid|incorrect|correct|wrong|weak|strong|expired|revoked|rotated|hidden|empty|blank|unset|changed|unchanged|reset|forgotten|hashed|encrypted|encoded|plain|plaintext|masked|redacted|provided|generated|random|nullable|readonly|enabled|disabled|allowed|denied|rejected|accepted|failed|mismatch|matches|confirmed|confirmation|visible|verified|password|passwd|passphrase|pass|pwd|secret|token|apikey|bearer|basic|digest|env|prompt|stdin|input|options?|flags?|arguments?|parameters?|params?|value|field|example|dummy|sample|self|this|process|await|async|new|const|let|var|function|return|import|class|def|and|or|not|is|for|with|from)[.?!*:,;]*$/i;

/**
 * Whether a value consists only of words and small numbers: `loading-indicator-2`, `accessToken`, `MY_API_KEY`, `src/cart.ts`. Keys do not:
 * they have single letters between digits, long runs of digits, or letter sequences that no word has.
 */
export function isName(value: string): boolean {
  if (PLAIN_NAME.test(value)) return true;
  let glued = 0;
  for (let at = 0; at < value.length; ) {
    const start = at;
    if (SEPARATORS.includes(value[at]!)) {
      at++;
      continue;
    }
    const isFirst = start === 0 || SEPARATORS.includes(value[start - 1]!);
    while (isDigit(value, at)) at++;
    if (at > start) {
      if (at - start > 5 || (!isFirst && ++glued > 2)) return false;
      continue;
    }
    while (isUpper(value, at)) at++;
    const uppers = at - start;
    while (isLower(value, at)) at++;
    const lowers = at - start - uppers;
    if (uppers + lowers === 0 || uppers > WORD_MAX || lowers > WORD_MAX) return false;
    // A single letter is fine at the start of a part (`v2`, `x86`), but not between digits (the `e` of `550e8400`).
    if (uppers + lowers === 1 && !isFirst) return false;
    if (uppers > 0 && lowers === 1 && !isFirst && !SHORT_WORDS.includes(value.slice(at - 2, at))) return false;
    if (lowers > 1 && !isWord(value.slice(uppers > 1 ? start + uppers - 1 : start, at).toLowerCase())) return false;
  }
  return true;
}

/** Words between separators, each followed by at most one number: `gss_krb5_rfc1964`. */
const PLAIN_NAME =
  /^[-_./:@ ~]*(?:[a-z]{1,15}\d{0,5}|[A-Z]{1,15}\d{0,5}|[A-Z][a-z]{1,14}\d{0,5}|\d{1,5})(?:[-_./:@ ~]+(?:[a-z]{1,15}\d{0,5}|[A-Z]{1,15}\d{0,5}|[A-Z][a-z]{1,14}\d{0,5}|\d{1,5}))*[-_./:@ ~]*$/;

/** A word of three letters or more has a vowel, except for these abbreviations, which are common in programs. */
function isWord(letters: string): boolean {
  return letters.length < 3 || /[aeiou]/.test(letters) || NO_VOWELS.includes(` ${letters} `);
}

const NO_VOWELS =
  " src css tsx jsx mts cts mjs cjs npm pnpm dns sql xml yml html xhtml http https ssh tmp txt str ptr ctx msg pkg cmd cfg img btn svc mgr sdk rpc grpc tls ssl pdf png svg jpg gpg pgp jwt ttl tcp udp vpc vpn cdn crc ldap mysql sync async sys crypt decrypt encrypt try dry why sky key by my fly sms tts stt llm gpt gcp kms cms crm php cpp std fmt lib lfs nft rgb hsl ths nth pwd psk hdr pty tty gzip zstd bzip zsh bsh ksh csh ";

/** Short words inside names such as `endOfFile`. */
const SHORT_WORDS = "Of In Is To By Or On At If Id Up No As Do My It An Be Go Js Ts Db Ui Io Os Ip";
const SEPARATORS = "-_./:@ ~";
const WORD_MAX = 15;

/** For places that are known to hold a key: 16 characters or more, not a name, and not only letters of one case. */
export function looksRandom(value: string): boolean {
  if (value.length < 16 || !/^[\w+/=.~:%-]+$/.test(value) || !/[a-z]/i.test(value)) return false;
  if (/^v?\d+\.\d+(?:\.|$)|^\d{4}-\d\d-\d\d/.test(value) || isName(value)) return false;
  return countDigits(value) >= 2 || /[a-z0-9]{24}/i.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value));
}

/** A key that is recognizable anywhere: upper case, lower case and digits mixed at random. Identifiers contain words. */
export function isJumble(value: string): boolean {
  if (countDigits(value) < 1 || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  let inWords = 0;
  for (const [word] of value.matchAll(/[a-z]{4,}/g)) inWords += word.length;
  return inWords < value.length * 0.45;
}

export function countDigits(value: string): number {
  let digits = 0;
  for (let at = 0; at < value.length; at++) if (isDigit(value, at)) digits++;
  return digits;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function isUpper(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 65 && code <= 90;
}

function isLower(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 97 && code <= 122;
}

/** "" if the text is not base64. */
export function decodeBase64(text: string): string {
  try {
    return atob(text.length % 4 === 1 ? text.slice(0, -1) : text);
  } catch {
    return "";
  }
}

/** A piece of a pattern: what may come before a line's text, such as its number, a diff sign or a quotation mark. */
export const LINE_START = String.raw`(?:[ \t\u2028]{0,8}(?:\d{1,6}(?:→|:|\||\t)|[-+>|])[ \t]{0,8})?`;

export function mask(kind: string): string {
  return `[masked:${kind}]`;
}

/** For a pattern that finds what stands before a value, and the value: masks the values that are secrets. */
export function masking(kind: string, isSecret: (value: string, before: string) => boolean = () => true) {
  return (match: string, before: string, value: string) => (isSecret(value, before) ? before + mask(kind) : match);
}

/** Compiles a pattern at its first use: all of them together take a new process 3 ms, and most commands mask nothing. */
export function later(source: string, flags = ""): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}
