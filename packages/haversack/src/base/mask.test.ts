import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stripControl } from "./clean-text.ts";
import { maskSecrets } from "./mask.ts";

// These secrets are made up, and assembled here to keep secret scanners from reporting this file.
const alnum = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4";
const hex = "0123456789abcdef".repeat(4);
const base64Line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const begin = ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" ");
const end = ["-----END", "RSA PRIVATE KEY-----"].join(" ");

const known: [kind: string, key: string][] = [
  ["anthropic-key", `sk-ant-api03-${alnum}`],
  ["api-key", `sk-${alnum}`],
  ["api-key", `sk-proj-${alnum}-x_${alnum}`],
  ["api-key", `gsk_${alnum}`],
  ["github-token", `ghp_${alnum.slice(0, 36)}`],
  ["github-token", `gho_${alnum.slice(0, 36)}`],
  ["github-token", `ghs_${alnum.slice(0, 36)}`],
  ["github-token", `github_pat_${alnum}`],
  ["gitlab-token", `glpat-${alnum.slice(0, 20)}`],
  ["slack-token", `xoxb-1234567890-${alnum}`],
  ["slack-token", `xoxp-1234567890-${alnum}`],
  ["slack-webhook", `hooks.slack.com/services/T12345678/B12345678/${alnum.slice(0, 24)}`],
  ["aws-key-id", `AKIA${"ABCD2345".repeat(2)}`],
  ["google-key", `AIza${alnum.slice(0, 35)}`],
  ["npm-token", `npm_${alnum.slice(0, 36)}`],
  ["jwt", `eyJ${alnum}.eyJ${alnum}.${alnum}-_x`],
  ["huggingface-token", `hf_${alnum.slice(0, 34)}`],
  ["pypi-token", `pypi-${alnum}`],
  ["sendgrid-key", `SG.${alnum.slice(0, 22)}.${alnum.slice(0, 43)}`],
  ["stripe-key", `sk_live_${alnum.slice(0, 24)}`],
  ["stripe-key", `rk_live_${alnum.slice(0, 24)}`],
  ["telegram-token", `123456789:AA${alnum.slice(0, 33)}`],
  ["vault-token", `hvs.${alnum.slice(0, 24)}`],
  ["discord-token", `MTA${alnum.slice(0, 21)}.${alnum.slice(0, 6)}.${alnum.slice(0, 38)}`],
  ["databricks-token", `dapi${hex.slice(0, 32)}`],
  ["atlassian-token", `ATATT3xFfGF0${alnum}`],
  ["terraform-token", `${alnum.slice(0, 14)}.atlasv1.${alnum}${alnum.slice(0, 19)}`],
  ["mailgun-key", `key-${hex.slice(0, 32)}`],
  ["mailgun-key", `${hex.slice(0, 32)}-${hex.slice(0, 8)}-${hex.slice(0, 8)}`],
  ["new-relic-key", `NRAK-${"ABCD2345".repeat(3)}XYZ`],
  ["new-relic-key", `${hex.slice(0, 36)}NRAL`],
  ["api-key", `acme_live_${alnum.slice(0, 40)}`],
];

describe("maskSecrets", () => {
  it.each(known)("masks a %s wherever it stands: %s", (kind, key) => {
    expect(maskSecrets(key)).toBe(`[masked:${kind}]`);
    expect(maskSecrets(`use (${key}), then go on`)).toBe(`use ([masked:${kind}]), then go on`);
    expect(maskSecrets(`x = "${key}";`)).toBe(`x = "[masked:${kind}]";`);
  });

  it.each([
    ["Authorization: Bearer abc123def456", "Authorization: Bearer [masked:authorization]"],
    ["authorization: Basic dXNlcjpwYXNz", "authorization: Basic [masked:authorization]"],
    ['{"Authorization":"Bearer abc123def456"}', '{"Authorization":"Bearer [masked:authorization]"}'],
    [`curl -H "X-Auth: Bearer ${alnum}"`, 'curl -H "X-Auth: Bearer [masked:authorization]"'],
    ["postgres://app:hunter2@db:5432/x", "postgres://app:[masked:password]@db:5432/x"],
    ["https://:pw@host and redis://u:p%40s@h", "https://:[masked:password]@host and redis://u:[masked:password]@h"],
    ["curl -u admin:hunter2 https://x", "curl -u admin:[masked:password] https://x"],
    ["deploy --token abc12345 --dry-run", "deploy --token [masked:secret] --dry-run"],
    ["password=hunter2", "password=[masked:password]"],
    ["password=correcthorse", "password=[masked:password]"],
    ["?user=a&password=hunter2&x=1", "?user=a&password=[masked:password]&x=1"],
    ["password: hunter2", "password: [masked:password]"],
    ["password: correcthorse\nport: 1", "password: [masked:password]\nport: 1"],
    ['"api_key": "abc123def456"', '"api_key": "[masked:secret]"'],
    ["'apiKey' => 'abc123def456',", "'apiKey' => '[masked:secret]',"],
    ['{\\"api_key\\": \\"abc123def456\\", \\"n\\": 1}', '{\\"api_key\\": \\"[masked:secret]\\", \\"n\\": 1}'],
    ["export FOO_TOKEN=abcdefgh", "export FOO_TOKEN=[masked:secret]"],
    ["export FOO_TOKEN='abc def'\nls", "export FOO_TOKEN='[masked:secret]'\nls"],
    ['DB_PASS="p w"', 'DB_PASS="[masked:password]"'],
    ["DB_PASS=s3cret!", "DB_PASS=[masked:password]"],
    ["GITHUB_TOKEN_RO=0a1b2c3d4e5f6a7b8c9d", "GITHUB_TOKEN_RO=[masked:secret]"],
    ['config["client_secret"] = "zyx987wvu"', 'config["client_secret"] = "[masked:secret]"'],
    ['password: "with \\" quote"', 'password: "with \\" quote"'],
    ['password: "with\\"quote"', 'password: "[masked:password]"'],
    ['passphrase: "four words of mine"', 'passphrase: "[masked:password]"'],
    ['"secret": "cut off in the middle1', '"secret": "cut off in the middle1'],
    ['"secret": "cut0ff0value', '"secret": "[masked:secret]'],
    ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzz90", "aws_secret_access_key = [masked:secret]"],
    ['"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCY"', '"SecretAccessKey": "[masked:secret]"'],
    [
      "DefaultEndpointsProtocol=https;AccountKey=abc/123+def==;x",
      "DefaultEndpointsProtocol=https;AccountKey=[masked:secret];x",
    ],
    // Headers and cookies.
    ["Cookie: theme=dark; sid=0a1b2c3d4e5f", "Cookie: theme=dark; sid=[masked:cookie]"],
    ["Set-Cookie: sid=0a1b2c3d4e5f; Path=/; HttpOnly", "Set-Cookie: sid=[masked:cookie]; Path=/; HttpOnly"],
    ["curl -b 'session=0a1b2c3d4e5f' x", "curl -b 'session=[masked:cookie]' x"],
    ["Authorization: ApiKey abc123def456", "Authorization: ApiKey [masked:authorization]"],
    [`authorization: ${alnum}`, "authorization: [masked:authorization]"],
    // Files in which programs store passwords.
    ["//npm.acme.dev/:_auth=dXNlcjpwYXNzdzByZA==", "//npm.acme.dev/:_auth=[masked:authorization]"],
    ["//npm.acme.dev/:_authToken=0a1b2c3d4e5f", "//npm.acme.dev/:_authToken=[masked:secret]"],
    ['{"auths":{"x":{"auth":"dXNlcjpwYXNzdzByZA=="}}}', '{"auths":{"x":{"auth":"[masked:authorization]"}}}'],
    ["machine a.dev login me password hunter2", "machine a.dev login me password [masked:password]"],
    ["machine a.dev\n  login me\n  password hunter2\n", "machine a.dev\n  login me\n  password [masked:password]\n"],
    ["db.acme.dev:5432:main:app:hunter2", "db.acme.dev:5432:main:app:[masked:password]"],
    ["localhost:*:*:app:hunter2\nx", "localhost:*:*:app:[masked:password]\nx"],
    [
      "kind: Secret\ndata:\n  dsn: cG9zdGdyZXM=\ntype: Opaque",
      "kind: Secret\ndata:\n  dsn: [masked:secret]\ntype: Opaque",
    ],
    // URLs.
    [
      "https://a.blob.core.windows.net/c?sp=r&sig=a1B2c3D4%2Be5F6g7%3D",
      "https://a.blob.core.windows.net/c?sp=r&sig=[masked:signature]",
    ],
    [
      `https://b.s3.amazonaws.com/k?X-Amz-Signature=${hex}`,
      "https://b.s3.amazonaws.com/k?X-Amz-Signature=[masked:signature]",
    ],
    ["postgres://app:p@ss@w0rd@db:5432/x", "postgres://app:[masked:password]@db:5432/x"],
    ["postgres://app:p4ss/w0rd#1@db:5432/x", "postgres://app:[masked:password]@db:5432/x"],
    [`https://${alnum}@git.acme.dev/r`, "https://[masked:token]@git.acme.dev/r"],
    // Command lines.
    ["mysql -u root -phunter2 main", "mysql -u root -p[masked:password] main"],
    ["mysqldump -p'a b' main > d", "mysqldump -p'[masked:password]' main > d"],
    ["sshpass -p hunter2 ssh h", "sshpass -p [masked:password] ssh h"],
    ["redis-cli -a hunter2 ping", "redis-cli -a [masked:password] ping"],
    ["openssl rsa -passin pass:hunter2 -in k", "openssl rsa -passin pass:[masked:password] -in k"],
    ["docker login -u me -p hunter2 r.dev", "docker login -u me -p [masked:password] r.dev"],
    ["echo hunter2 | sudo -S ls", "echo [masked:password] | sudo -S ls"],
    ["deploy --password correcthorse --yes", "deploy --password [masked:password] --yes"],
    // Names and values.
    ["SecretAccessKey: wJalrXUtnFEMI/KxMDENG/bPxRfiCYzzzzzzzzzz", "SecretAccessKey: [masked:secret]"],
    [
      'const key: string = "x"; const apiKey: string = "abc123def456";',
      'const key: string = "x"; const apiKey: string = "[masked:secret]";',
    ],
    ["define('DB_PASSWORD', 'hunter2');", "define('DB_PASSWORD', '[masked:password]');"],
    ["<password>hunter2</password>", "<password>[masked:password]</password>"],
    ["- name: DB_PASSWORD\n  value: hunter2", "- name: DB_PASSWORD\n  value: [masked:password]"],
    ["CREATE USER a IDENTIFIED BY 'hunter2';", "CREATE USER a IDENTIFIED BY '[masked:password]';"],
    ["DB_PASSWORD=a&b;c9(d\nPORT=1", "DB_PASSWORD=[masked:password]\nPORT=1"],
    ["the password is hunter2.", "the password is [masked:password]."],
    [`use the token ${hex} for that`, "use the token [masked:secret] for that"],
  ])("masks the value and keeps the key: %s", (text, expected) => {
    expect(maskSecrets(text)).toBe(expected);
  });

  it.each([
    ["whole", `a\n${begin}\n${base64Line}\n${base64Line}\nabc=\n${end}\nb`, "a\n[masked:private-key]\nb"],
    ["in JSON", `{"key":"${begin}\\n${base64Line}\\n${base64Line}\\n${end}\\n"}`, '{"key":"[masked:private-key]\\n"}'],
    [
      "with headers",
      `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n${base64Line}\n${end}`,
      "[masked:private-key]",
    ],
    ["cut off at its end", `${begin}\n${base64Line}\n${base64Line.slice(0, 30)}`, "[masked:private-key]"],
    ["cut off at its start", `x y\n${base64Line}\n${base64Line}\nabc=\n${end}\nb`, "x y\n[masked:private-key]\nb"],
    ["as a removed line of a diff", `-${begin}\n-${base64Line}\n-${end}\n`, "-[masked:private-key]\n"],
    ["with line numbers", `     1→${begin}\n     2→${base64Line}\n     3→${end}\n`, "     1→[masked:private-key]\n"],
    ["quoted in a shell line", `echo "${begin}\\n${base64Line}\\n${end}" > k`, 'echo "[masked:private-key]" > k'],
    ["in pieces of code", `"${begin}\\n" +\n  "${base64Line}\\n" +\n  "${end}"`, '"[masked:private-key]"'],
    ["as words of a command", `printf '%s' '${begin}' '${base64Line}' '${end}'`, "printf '%s' '[masked:private-key]'"],
    ["escaped twice", `{\\"k\\":\\"${begin}\\\\n${base64Line}\\\\n${base64Line}`, '{\\"k\\":\\"[masked:private-key]'],
    [
      "in base64, as Kubernetes keeps it",
      `tls.key: ${btoa(`${begin}\n${base64Line}\n${end}\n`)}`,
      "tls.key: [masked:private-key]",
    ],
    ["without its markers", `key(${base64Line})`, "key([masked:private-key])"],
    ["as a JSON Web Key", `{"kty":"EC","x":"abc","d":"${alnum}"}`, '{"kty":"EC","x":"abc","d":"[masked:private-key]"}'],
    ["only mentioned", `it looks for ${begin} in each file`, "it looks for [masked:private-key] in each file"],
    [
      "two",
      `${begin}\n${base64Line}\n${end}\nmid\n${begin}\n${base64Line}\n${end}`,
      "[masked:private-key]\nmid\n[masked:private-key]",
    ],
  ])("masks a private key: %s", (_, text, expected) => {
    expect(maskSecrets(text)).toBe(expected);
  });

  it.each([
    "",
    "commit 3f8a9c0d1e2b4f5a6b7c8d9e0f1a2b3c4d5e6f70",
    "550e8400-e29b-41d4-a716-446655440000",
    `sha512-${alnum}${alnum}==`,
    "/home/me/projects/token/secret-service/password.ts:12",
    "The password is checked by the server. A token: what is it?",
    "token count: 1234, max_tokens: 4096, tokens=123456, token_count: 99, total_tokens=12345678",
    "api_key: string; password?: string\n  token: str\n",
    'interface A {\n  apiKey: string;\n  password: Password\n  secret: "string"\n}',
    "const key = process.env.API_KEY ?? config.apiKey;",
    "apiKey: process.env.API_KEY, token: settings.auth.token, password = args.password",
    "token = getToken(); password: z.string().min(8), secret=derive(key)",
    "password = encrypt2(input), api_key=make_key_2(seed), token: parts2[0]",
    "login(user=name, password=entered)",
    'password = os.environ["DB_PASSWORD"]',
    `export TOKEN=$GITHUB_TOKEN PASSWORD=\${PW} SECRET=<your secret>`,
    "Authorization: Bearer $TOKEN and Authorization: Bearer <token>",
    `postgres://\${USER}:\${PASSWORD}@db and http://localhost:3000/@scope/name and http://h:80?a=b@c`,
    "Bearer tokens are sent in a header. Basic understanding-of-things helps. basic python3.12",
    '"password": "Please enter your password", "token": "access_token"',
    'if (token == "abcdefgh1" || password === other) Token::new("abc12345")',
    "sk-cube-grid sk-loading-indicator-section-2 task-sk-small",
    "grep '^DEPLOY_TOKEN=' .env 2>/dev/null",
    "mongodb://username:password@host:port/database",
    'api_key = "sk-..."',
    "$password = Read-Password -AsPlainText",
    "docker run -u 1000:1000 image",
    "git log --token-is-not-a-flag --password",
    "eyJ is how a JWT starts; npm_config_cache, hf_hub, SG.x, ghp_ are prefixes",
    "src/skills/token-budget.ts secret/name@1.2.3 user@host:path",
    "https://example.com/a:b@c",
    "pass: 12, fail: 0, tests_pass=12",
    `tls.crt: ${btoa(`-----BEGIN CERTIFICATE-----\n${base64Line}\n-----END CERTIFICATE-----\n`)}`,
    `if (text.startsWith("-----BEGIN CERTIFICATE-----") && text.endsWith("-----END CERTIFICATE-----")) return read(text);`,
    "Cookie: name=value; Set-Cookie: <name>=<value>; cookie: Cookie",
    "auth: none, auth=basic, _auth: true, auth: 'required'",
    "On that machine the login form password field is too narrow.",
    "main.go:1234:56: undefined: token and fe80:1234:abcd:ef01:2345:6789:abcd:ef01",
    "mysql -p asks for it; mkdir -p a/b; docker run -p 8080:80 x; sshpass -e ssh h",
    "password: &str, token: Option<String>, secret: Vec<u8>; endOfFileToken: sourceFile.endOfFileToken",
    "TOKEN_URL=https://a.dev/x1 PASSWORD_FILE=/run/secrets/db_2026_01 secret_name=prod-db-2026",
    "the password is sha256-hashed with a 16-byte salt, the token is base64url-encoded",
    "napi_tsfn_nonblocking gss_krb5_rfc1964_keydata test_handlesUtf8InputAndReturns400WhenInvalid",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx glpat-your-token-goes-here xoxb-your-bot-token-here",
    "readFile('/etc/passwd', 'utf8'); ['password', 'confirm_password', 'token2']",
  ])("leaves ordinary text alone: %s", (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it("keeps the more telling kind", () => {
    expect(maskSecrets(`token = "ghp_${alnum.slice(0, 36)}"`)).toBe('token = "[masked:github-token]"');
  });

  it("masks several of different kinds in one text", () => {
    const text = `A=ghp_${alnum.slice(0, 36)} B_TOKEN="zz11yy22" https://u:p@h/ AKIA${"ABCD2345".repeat(2)}`;
    expect(maskSecrets(text)).toBe(
      'A=[masked:github-token] B_TOKEN="[masked:secret]" https://u:[masked:password]@h/ [masked:aws-key-id]',
    );
  });

  const fragments = fc.constantFrom(
    ...known.map(([, key]) => key),
    ...[begin, end, base64Line, hex, alnum, "password", "token", "api_key", "secret_x", "Authorization", "Bearer "],
    ...[
      "--token ",
      "curl -u ",
      "://",
      "@",
      ":",
      "=",
      " ",
      "\n",
      '"',
      "'",
      "\\",
      "[",
      "]",
      "masked:",
      "eyJ",
      "sk-",
      "abc1",
      "-----",
      "\\n",
      ",",
      ";",
      "&sig=",
      "?key=",
      "cookie: a=",
      "; b=",
      "mysql -p",
      "sshpass -p ",
      "echo ",
      " | sudo -S",
      "machine a.dev login b password ",
      "\na:5432:b:c:",
      "kind: Secret\ndata:\n  k: ",
      "password is ",
      "\nDB_PASSWORD=",
      "<token>",
      "</token>",
      "name: api_token\nvalue: ",
      "identified by '",
      "user:p@",
      "$2y$10$",
      "LS0tLS1CRUdJTi",
    ],
  );

  it("does not take a key that it has masked for a user and a password", () => {
    const key = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4";
    expect(maskSecrets(`curl -u ${key} ${key.repeat(4)} -u ${key}`)).toMatch(
      /^curl -u \[masked:anthropic-key\] .* -u \[masked:anthropic-key\]$/,
    );
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: fragments }, fc.string({ maxLength: 5 })), { maxLength: 14 }),
        (pieces) => {
          const once = maskSecrets(pieces.join(""));
          expect(maskSecrets(once)).toBe(once);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("keeps what is one line on one line, escaped line breaks too", () => {
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 14 }), (pieces) => {
        const line = JSON.stringify({ text: pieces.join("") });
        expect(maskSecrets(line)).not.toContain("\n");
        expect(maskSecrets(line)).not.toContain("\u2028");
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves no known key in any surroundings that do not run into it", () => {
    const around = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(around, fc.constantFrom(...known), around, (before, [, key], after) => {
        expect(maskSecrets(`${before} ${key} ${after}`)).not.toContain(key);
      }),
      { numRuns: 500 },
    );
  });

  // Quadratic work on a megabyte would hit the time limit of the test.
  it.each([
    "a",
    "eyJ",
    "eyJa.",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "-----END PRIVATE KEY-----\n",
    "://a:",
    "://",
    "token",
    "token_",
    "token=",
    'token="',
    "token:'",
    "token=\\",
    "Bearer ",
    "authorization: ",
    "--a-token ",
    " curl -u a:",
    "password : ",
    "AAAAAAAAAAAAAAAAAAAAAAAA\n",
    " ",
    "\n",
    "SG.aaaaaaaaaaaaaaaaaaaa.",
    "1",
    "\\n",
    "ghp_",
    "pass_",
    "://a:b@",
    "a@",
    "cookie: a=b; ",
    "cookie: a=",
    "machine a login b ",
    "a:1234:b:c:",
    "mysql -pa ",
    'curl "',
    "-a-",
    "key-",
    "echo a ",
    "kind: Secret\n data:\n  a: bcde\n",
    "LS0tLS1CRUdJTi",
    "token is ",
    "token: a ",
    "name: token value: ",
    "<password>a",
    "\nexport KEY",
    "$6$a$",
    "ab_cd_",
    "0123456789abcdef0123456789abcdef-",
    "\u001b[",
    "\u001b]",
    "\u200d",
    "😀\u200d",
  ])("takes a megabyte of %j", (unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    expect(typeof maskSecrets(stripControl(text))).toBe("string");
  });
});

describe("long texts", () => {
  it.each([
    ["one row of letters", "x", ""],
    ["one word and spaces", "x ", ""],
    ["a quoted value without its end", "x", 'password = "'],
    ["escaped quotes", '\\"', 'password = "'],
    ["a private key without its end", `${base64Line}\n`, `${begin}\n`],
  ])("10 MB of %s do not overflow", (_, unit, start) => {
    const text = start + unit.repeat(10_000_000 / unit.length);
    expect(maskSecrets(text).length).toBeGreaterThan(10);
  });

  it("are masked wherever the secret stands", () => {
    const key = `ghp_${alnum.slice(0, 36)}`;
    const filler = `${"some words of a line\n".repeat(9_999)}`;
    const text = `${filler}${key}\n`.repeat(8);
    const masked = maskSecrets(text);
    expect(masked).not.toContain(key);
    expect(masked.split("[masked:github-token]")).toHaveLength(9);
    expect(masked.replaceAll("[masked:github-token]", key)).toBe(text);
  });

  it("hide a private key that lies across two pieces", () => {
    const block = `${begin}\n${`${base64Line}\n`.repeat(25)}${end}\n`;
    const masked = maskSecrets(`${"line\n".repeat(49_800)}${block.repeat(3)}`);
    expect(masked).not.toContain(base64Line.slice(0, 30));
  });
});

describe("stripControl", () => {
  it.each([
    ["colours", "\u001b[1;31mred\u001b[0m text", "red text"],
    ["eight-bit colours", "\u009b31mred", "red"],
    ["cursor movements", "a\u001b[2K\u001b[1Gb\u001b7c\u001b(B", "abc"],
    ["titles and links", "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "alink"],
    ["a title without its end, up to the end of the line", "\u001b]0;title\nnext", "\nnext"],
    ["a sequence that is cut off", "text\u001b", "text"],
    ["C0 and C1 controls", "a\u0000b\u0008cd\u007fe\u0085f", "abcdef"],
    ["bidi overrides", "a\u202eb\u2066c\u2069\u200fd", "abcd"],
    ["zero-width characters", "pass\u200bwo\u200drd\ufeff\u2060", "password"],
    ["tag characters", "hi\u{e0068}\u{e0069}", "hi"],
    ["bytes hidden in variation selectors", "😀\u{e0101}\u{e0122}\ufe01", "😀"],
  ])("removes %s", (_, text, expected) => {
    expect(stripControl(text)).toBe(expected);
  });

  it.each([
    "line one\n\tline two\n",
    "Größe, naïve, 字, かな, Привет",
    "👩\u200d💻 👨🏽\u200d🔧 🏳\ufe0f\u200d🌈 ⚠\ufe0f 1\ufe0f\u20e3",
    "می\u200cخواهم",
  ])("keeps %s", (text) => {
    expect(stripControl(text)).toBe(text);
  });

  it("leaves no control character, and changes nothing the second time", () => {
    const unit = fc.oneof(
      fc.constantFrom("\u001b", "[", "]", "0", "m", "\u0007", "\u200d", "\ufe0f", "😀", "\u009b", "\n"),
      fc.string({ unit: "binary", maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(unit), (pieces) => {
        const once = stripControl(pieces.join(""));
        expect(once).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b]/);
        expect(stripControl(once)).toBe(once);
      }),
      { numRuns: 1_000 },
    );
  });
});
