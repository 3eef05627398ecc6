/**
 * Keys with a recognizable format, mostly a vendor's prefix. The rest of the key must not consist of words (`sk-loading-box-2`) or be a
 * placeholder (`ghp_xxxxxxxx`).
 */
import { decodeBase64, isJumble, isName, isPlaceholder, later, mask, masking } from "./value.ts";
import { BODIES, KEY_ROW } from "./words.ts";

export function maskKnownKeys(text: string): string {
  if (!hasKey(text)) return text;
  // A key never spans lines, and few lines of a long text have one.
  if (text.length < 1000) return maskEach(text);
  return text
    .split("\n")
    .map((line) => (hasKey(line) ? maskEach(line) : line))
    .join("\n");
}

function maskEach(text: string): string {
  let result = text.replace(knownPattern(), maskKnown);
  if (result.includes(".")) result = result.replace(JWT, mask("jwt"));
  for (const [kind, inside, pattern] of MARKED) {
    if (result.includes(inside)) result = result.replace(pattern, mask(kind));
  }
  return result.includes("_")
    ? result.replace(UNKNOWN_MAKER, (key, rest) => (isJumble(rest) ? mask("api-key") : key))
    : result;
}

/** Whether the text has such a run that does not consist of words. */
function hasKey(text: string): boolean {
  for (const { 0: row, index } of text.matchAll(KEY_ROW)) if (isKeyLike(row, text[index - 1] ?? "")) return true;
  return text.includes("PRIVATE KEY") || text.includes("webhook");
}

/** Hashes, UUIDs and names of temporary folders are not keys by themselves. An AWS key ID looks like words in capitals. */
function isKeyLike(row: string, before: string): boolean {
  if (isName(row)) return /[A-Z0-9]{20}/.test(row);
  // After one of these characters, a hash may be the second half of a key.
  if (/^[0-9a-f-]+$/.test(row)) return /^[0-9a-f]{32}-/.test(row) || /[.:$]/.test(before);
  return row.length >= 30 || /[A-Za-z0-9]{16}/.test(row) || BEGINNINGS.test(row);
}

/** Prefixes of the short formats that may contain `-` or `_` anywhere. */
const BEGINNINGS =
  /(?:sk|gl[a-z]{2,5}|xox[a-z]|xapp|xwfp|xai|pplx|nvapi|tskey|pypi|NR[A-Z]{2}|GOCSPX|sq0[a-z]{3}|BBDC)-|AIza|AQVN|GR1348941|AT(?:ATT3|CTT3|BB|OA)|EAA|IGQ|_|eyJ/;

type Format = readonly [kind: string, beginning: string, rest: string];

/** Prefixes that mean nothing else. */
const SURE: readonly Format[] = [
  ["anthropic-key", "sk-ant-", "[\\w-]{16,}"],
  ["github-token", "gh[opsur]_|github_pat_", "\\w{20,}"],
  ["gitlab-token", "gl(?:pat|dt|ft|rtr?|soat|cbt|ptt|agent|oas|imt|ffct|wt)-|GR1348941", "[\\w.-]{16,}"],
  ["slack-token", "xox[abcdeoprs](?:\\.xox[a-z])?-|xapp-\\d-|xwfp-", "[\\w-]{11,}"],
  ["aws-key-id", "AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9]", "[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["aws-key", "ABSK|bedrock-api-key-", "[A-Za-z0-9+/=]{60,}"],
  ["aws-session-token", "IQoJb3JpZ2lu|FwoGZXIvYXdz", "[A-Za-z0-9+/=%]{60,}"],
  ["aws-key", "amzn\\.mws\\.", "[0-9a-f-]{30,}"],
  ["google-key", "AIza|GOCSPX-|ya29\\.|1//0", "[\\w-]{20,}"],
  ["google-key", "AAAA[\\w-]{7}:", "[\\w-]{100,}"],
  ["alibaba-key-id", "LTAI", "[A-Za-z0-9]{12,}"],
  ["tencent-key-id", "AKID", "[A-Za-z0-9]{20,}"],
  ["yandex-key", "AQVN", "[\\w-]{35,}"],
  ["npm-token", "npm_", "[A-Za-z0-9]{30,}"],
  ["huggingface-token", "hf_|api_org_", "[A-Za-z0-9]{30,}"],
  ["pypi-token", "pypi-", "[\\w-]{40,}"],
  ["crates-token", "cio", "[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["grafana-token", "glc_", "[A-Za-z0-9+/=]{40,}"],
  ["sentry-token", "sntry[su]_", "[\\w+/=-]{40,}"],
  ["fly-token", "fm[12][ar]?_|fo1_", "[\\w+/=-]{40,}"],
  ["grafana-token", "eyJrIjoi", "[A-Za-z0-9+/=]{60,}"],
  ["1password-token", "ops_eyJ", "[\\w+/=-]{60,}"],
  ["jwt", "ZXlK", "[\\w+/=-]{60,}"],
  ["harness-token", "[ps]at\\.[\\w-]{22}\\.[A-Za-z0-9]{24}\\.", "[A-Za-z0-9]{20}"],
  ["clickhouse-key", "4b1d", "[A-Za-z0-9]{38}(?![A-Za-z0-9])"],
  ["flutterwave-key", "FLWSECK(?:_TEST)?-", "[0-9a-hX-]{12,}"],
  ["docker-config", "eyJhdXRo", "[A-Za-z0-9+/=]{30,}"],
  ["nuget-key", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])"],
  ["artifactory-token", "AKCp\\d|cmVmdGtu", "[A-Za-z0-9]{50,}"],
  ["sendgrid-key", "SG\\.[\\w-]{16,32}\\.", "[\\w-]{30,}"],
  ["stripe-key", "(?:sk|rk|pk)_(?:live|test|prod)_|whsec_", "[\\w+/=]{10,}"],
  ["square-token", "sq0[a-z]{3}-|EAAA[A-Za-z]", "[\\w-]{22,}"],
  ["shopify-token", "shp(?:at|ca|pa|ss|ua|tka)_", "[A-Za-z0-9]{24,}"],
  ["twilio-key", "SK", "[0-9a-fA-F]{32}(?![A-Za-z0-9])"],
  ["vault-token", "hv[sbr]\\.", "[\\w-]{20,}"],
  ["doppler-token", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", "[\\w.-]{30,}"],
  ["databricks-token", "dapi|dose|dkea", "[0-9a-f]{32}(?:-\\d{1,2})?(?![A-Za-z0-9])"],
  ["atlassian-token", "AT(?:ATT3|CTT3|BB|OA)|BBDC-", "[\\w=-]{20,}"],
  ["mailgun-key", "(?:pub)?key-", "[0-9a-z]{32}(?![A-Za-z0-9])"],
  ["mailersend-key", "mlsn\\.", "[0-9a-f]{60,}"],
  ["new-relic-key", "NR[A-Z]{2}-", "[\\w-]{16,}"],
  ["dynatrace-token", "dt0[a-z]\\d\\d\\.[A-Za-z0-9]{8,24}\\.", "[A-Za-z0-9]{40,}"],
  ["airtable-token", "pat[A-Za-z0-9]{14}\\.", "[0-9a-f]{60,}"],
  ["hubspot-token", "pat-[a-z]{2}\\d-", "[0-9a-f-]{30,}"],
  ["launchdarkly-key", "(?:sdk|api|mob)-", "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"],
  ["plaid-token", "access-(?:sandbox|development|production)-", "[0-9a-f-]{30,}"],
  ["paypal-token", "access_token\\$(?:production|sandbox)\\$", "[\\w$]{20,}"],
  ["asana-token", "[12]/\\d{10,20}(?:/\\d{10,20})?:", "[0-9a-f]{32}"],
  ["facebook-token", "EAA[A-Z0-9]|IGQ[A-Z]", "[\\w-]{60,}"],
  ["dropbox-token", "sl\\.(?:u\\.)?", "[\\w-]{60,}"],
  ["easypost-key", "EZ[AT]K", "[A-Za-z0-9]{50,}"],
  ["openshift-token", "sha256~", "[\\w-]{43}"],
  ["mapbox-token", "[st]k\\.eyJ", "[\\w.-]{40,}"],
  ["intercom-token", "dG9rO", "[\\w=+/]{30,}"],
  ["notion-token", "secret_|ntn_", "[A-Za-z0-9]{40,}"],
  ["resend-key", "re_[A-Za-z0-9]{8}_", "[A-Za-z0-9]{20,}"],
  ["1password-key", "A3-[A-Z0-9]{6}-", "[A-Z0-9-]{20,}"],
  ["cloudflare-key", "v1\\.0-[0-9a-f]{24}-", "[0-9a-f]{100,}"],
  ["age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{20,}"],
  ["wallet-key", "[xyz]prv", "[1-9A-HJ-NP-Za-km-z]{90,}"],
  ["password-hash", "\\$2[abxy]\\$\\d\\d\\$", "[\\w./]{50,}"],
  ["password-hash", "\\$(?:[156y]|apr1)\\$(?:rounds=\\d{1,9}\\$)?[\\w./]{1,40}\\$", "[\\w./]{20,}"],
  ["password-hash", "\\$argon2\\w{1,2}\\$[\\w=,$]{8,60}\\$", "[\\w+/$]{20,}"],
  ["password-hash", "pbkdf2_sha\\d{1,3}\\$\\d{1,9}\\$", "[\\w+/=$]{40,}"],
];

/** Prefixes that ordinary names also have: the rest must not consist of words, whatever separates them. */
const LIKELY: readonly Format[] = [
  ["vault-token", "[sb]\\.", "[A-Za-z0-9]{24}(?![\\w.(])"],
  [
    "api-key",
    "(?:sk|pplx|xai|nvapi|tskey|tvly|fc|csk|ctx7sk|fio-u|p8e|xkeysib|xsmtpsib|pul|s-s4t2[a-z]{2}|ico|tk-us|dnkey|HRKU|PMAK|CFPAT|API)-",
    "[\\w=-]{20,}",
  ],
  [
    "api-key",
    "(?:gsk|r8|fig[dou]|lin_(?:api|oauth)|sbp|sb_secret|rubygems|do[opr]_v1|dckr_[po]at|lsv2_[a-z]{2}|pcsk|jina|fw|e2b|apify_api|CCIPAT|CCIPRJ|bkua|sq[apu]|sgp|snyk_[a-z]{2,4}|glsa|phx|nfp|rnd|vc[a-z]|vercel_blob_rw|pscale_(?:tkn|pw|oauth)|napi|mdb_sa_sk|rdme|pnu|tfp|ion|aio|CLOJARS|shippo_(?:live|test)|duffel_(?:live|test)|sm_[a-z]{3}|sk|pat|cfut|cfat)_",
    "[\\w.=-]{16,}",
  ],
];

const FORMATS = [...SURE, ...LIKELY];
let known: RegExp | undefined;

/** A prefix must not start in the middle of a word. In JSON, the r of \\r is not part of a word. */
function knownPattern(): RegExp {
  const formats = FORMATS.map(([, beginning, rest]) => `(?:${beginning})(${rest})`).join("|");
  known ??= new RegExp(`(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt]))(?:${formats})`, "g");
  return known;
}

function maskKnown(match: string, ...groups: unknown[]): string {
  const at = groups.findIndex((group) => group !== undefined);
  const rest = groups[at] as string;
  const isWords = (at >= SURE.length || /[-_.]/.test(rest) || !/\d/.test(rest)) && isName(rest);
  return isWords || isPlaceholder(rest) ? match : mask(FORMATS[at]![0]);
}

const JWT = /(?<![\w-])e(?:yJ|yA|wo)[\w-]{13,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g;

/** Formats recognized by a part inside or at the end. */
const MARKED: readonly (readonly [kind: string, inside: string, pattern: RegExp])[] = [
  ["terraform-token", ".atlasv1.", /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}/g],
  ["telegram-token", ":", /(?<!\d)\d{8,10}:(?:AA[\w-]{32,}|[\w-]{35}(?![\w-]))/g],
  ["discord-token", ".", /(?<![\w-])[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,}/g],
  ["azure-key", "Q~", /(?<![\w.~])[\w.~]{3}\dQ~[\w.~-]{31,34}/g],
  ["azure-key", "JQQJ99", /(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,}/g],
  ["azure-key", "AZDO", /(?<![A-Za-z0-9])[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g],
  ["new-relic-key", "NRAL", /(?<![A-Za-z0-9])[0-9a-z]{30,40}(?:FFFF)?NRAL(?![A-Za-z0-9])/g],
  ["maxmind-key", "_mmk", /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk/g],
  ["facebook-token", "|", /(?<!\d)\d{15,16}\|[\w-]{27,40}/g],
  ["mailchimp-key", "-us", /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?!\w)/g],
  ["mailgun-key", "-", /(?<![\w-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/g],
  ["slack-webhook", "hooks.slack.com", /hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/]{20,}/g],
  ["discord-webhook", "/webhooks/", /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{10,25}\/[\w-]{30,}/g],
  ["teams-webhook", ".office.com", /webhook\.office\.com\/[\w@/-]{60,}/g],
  ["zapier-webhook", "hooks.zapier.com", /hooks\.zapier\.com\/hooks\/catch\/\d{3,12}\/\w{5,}/g],
];

/** A short word, an underscore and 32 or more random characters: how most vendors format their keys today. */
const UNKNOWN_MAKER = /(?<![\w.-])[A-Za-z][a-z0-9]{1,11}(?:_[a-z0-9]{1,8}){0,3}_([A-Za-z0-9]{32,})/g;

// Private keys: complete or cut off at either end, as in files or quoted in code, JSON, diffs and shell lines. Also the same keys in base64,
// as Kubernetes stores them.

export function maskPrivateKeys(text: string): string {
  let result = text;
  if (result.includes("PRIVATE KEY")) {
    result = maskWholeKeys(result);
    // Keys with the end cut off, and short keys.
    if (result.includes("-----BEGIN ")) result = result.replace(KEY_HEAD(), mask("private-key"));
    result = maskKeyTails(result);
  }
  if (result.includes("LS0tLS1CRUdJTi"))
    result = result.replace(BASE64_PEM, (key) =>
      decodeBase64(key.slice(0, 80)).includes("PRIVATE KEY") ? mask("private-key") : key,
    );
  if (result.includes("Private-Lines:")) result = result.replace(PUTTY, masking("private-key"));
  if (result.includes('"kty')) result = result.replace(JWK, masking("private-key"));
  return BODIES.some((start) => result.includes(start)) ? result.replace(BODY, mask("private-key")) : result;
}

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A key of 16,384 bits has 13,000 characters. */
const KEY_MAX = 20_000;
/** Shorter than a line of any key, but longer than any word in code between two mentions of the markers. */
const BASE64_RUN = /[A-Za-z0-9+/]{40}/;

/** From marker to marker, with any quotes, escapes and line numbers in between. */
function maskWholeKeys(text: string): string {
  const ends = [...text.matchAll(END)];
  const begins = ends.length > 0 ? [...text.matchAll(BEGIN)] : [];
  let result = "";
  let done = 0;
  let at = 0;
  for (const [number, begin] of begins.entries()) {
    while (ends[at] && ends[at]!.index < begin.index) at++;
    const end = ends[at];
    if (!end) break;
    const next = begins[number + 1]?.index ?? text.length;
    if (end.index > next || end.index - begin.index > KEY_MAX) continue;
    if (!BASE64_RUN.test(text.slice(begin.index + begin[0].length, end.index))) continue;
    result += text.slice(done, begin.index) + mask("private-key");
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/*
 * What may separate two lines: white space or, in JSON, the two characters \n; then an optional line number, quote mark or diff sign. Or the
 * end of one string in code and the start of the next.
 */
const LINE_MARK = String.raw`(?:(?:\d{1,6}(?:→|:|\||\s|\\t)|[->|])[ \t]?)?`;
const BREAK = String.raw`(?:\s|\\[nrt]?)+${LINE_MARK}`;
const SEAM = String.raw`(?:\s|\\[nrt]?|["'+,.$\x60]){1,40}`;
const KEY_HEAD = later(
  `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:${BREAK}(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\\n\\\\]{0,200})*` +
    `(?:${BREAK}[A-Za-z0-9+/=]{16,}|${SEAM}[A-Za-z0-9+/=]{40,})*(?:(?:${BREAK}[A-Za-z0-9+/=]{1,15}){0,2}(?:${BREAK})?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
  "g",
);

const KEY_LINE = later(`^\\s*${LINE_MARK}["']?[A-Za-z0-9+/=]+["']?[,+]?\\s*${LINE_MARK}$`);
const KEY_LINE_MAX = 200;

/** Keys with the first line cut off, as `tail` does. Masks from the end marker upwards while the lines are base64. */
function maskKeyTails(text: string): string {
  let result = "";
  let done = 0;
  for (const end of text.matchAll(END)) {
    let start = end.index;
    for (;;) {
      const from = Math.max(done, start - KEY_LINE_MAX);
      const lineStart = from + text.slice(from, Math.max(from, start - 1)).lastIndexOf("\n") + 1;
      const line = text.slice(lineStart, start);
      if (!KEY_LINE().test(line) || (line.length < 16 && start !== end.index)) break;
      start = lineStart;
    }
    // The mark of an escaped line break: see mask.ts.
    if (text[start] === "\u2028") start++;
    result += text.slice(done, start) + mask("private-key");
    done = end.index + end[0].length;
  }
  return result + text.slice(done);
}

/** `client-key-data` of a kubeconfig, `tls.key` of a secret. A certificate begins the same way, but is public. */
const BASE64_PEM = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,}/g;

/** PuTTY's own format. */
const PUTTY = /(Private-Lines: \d{1,3}\s{1,2})[A-Za-z0-9+/=\s]{1,20000}(?:Private-MAC: [0-9a-f]+)?/g;

/** The private numbers of a JSON Web Key, and the key of a symmetric one. */
const JWK = /("(?:d|p|q|dp|dq|qi|k)\\?"\s{0,4}:\s{0,4}\\?")[\w-]{20,}/g;

/** Key bodies without markers (`BODIES`). */
const BODY =
  /b3BlbnNzaC1rZXkt[A-Za-z0-9+/=]{40,}|MI[A-Za-z0-9+/]{2,5}(?:IBADANBgkqhkiG9w0B|IBAAKC|IBADAQBgcqhkjOPQ)[A-Za-z0-9+/=]{40,}/g;
