import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskKeys, maskNamed } from "./mask/patterns.ts";
import { hasKey, hasPlace, mayHoldSecret } from "./may-hold-secret.ts";

// Made up, and put together here so that no scanner takes this file for a leak.
const alnum = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4";
const SECRETS = [
  `sk-ant-api03-${alnum}`,
  `ghp_${alnum.slice(0, 36)}`,
  ["AKIA", "IOSFODNN7EXAMPLQ"].join(""),
  `xoxb-1234567890-${alnum}`,
  "postgres://app:hunter22@db/main",
  "postgres://app:p4ss/w0rd#1@db:5432/x",
  "Authorization: Bearer abcdef0123456789abcdef",
  'password = "correct-horse-9"',
  "curl -u admin:s3cretpw1 https://x",
  "mysql -phunter2222",
  "sshpass -p hunter22 ssh h",
  "redis-cli -a hunter22",
  "echo hunter22 | sudo -S ls",
  "Cookie: sid=0a1b2c3d4e5f",
  "curl -b 'session=0a1b2c3d4e5f'",
  "machine a.dev login me password hunter2",
  "localhost:*:*:app:hunter2",
  "?a=b&sig=a1B2c3D4%2Be5F6",
  "CREATE USER a IDENTIFIED BY 'hunter2'",
  "the password is hunter2",
  "<password>hunter2</password>",
  "kind: Secret\ndata:\n  dsn: cG9zdGdyZXM=",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdef\n-----END RSA PRIVATE KEY-----",
];

describe("mayHoldSecret", () => {
  it.each(SECRETS)("is true where masking changes something: %s", (secret) => {
    expect(maskNamed(maskKeys(secret))).not.toBe(secret);
    expect(mayHoldSecret(secret)).toBe(true);
  });

  it("leaves a maker's beginning before a plain word alone, as masking does", () => {
    const text = "xoxb-Authorization";
    expect([maskKeys(text), hasKey(text)]).toEqual([text, false]);
  });

  it("is true wherever masking changes something, in any surroundings", () => {
    const word = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        ...SECRETS,
        ..."key TOKEN = : \" ' -- -p -u xoxb- eyJ npm_ hf_ glpat- AIza SG. @ :// , ; & ? sig= cookie auth password secret is < > | curl mysql".split(
          " ",
        ),
        "\n",
        " ",
      ),
      fc.stringMatching(/^[A-Za-z0-9_-]{6,40}$/),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.constantFrom("", " ", "\n"), (words, joint) => {
        const text = words.join(joint);
        if (maskKeys(text) !== text) expect(hasKey(text)).toBe(true);
        if (maskNamed(text) !== text) expect(hasPlace(text)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    "continue",
    "fix the failing test in src/cart.ts",
    "Why is the list empty?",
    "set up the database connection string and the auth token",
    "Please write a test for the new parser, and fix what fails: it is in src/parse.ts.",
    "packages/haversack/src/work/capture-shell.test.ts",
    "npm run test -- --reporter=verbose src/skills/matching",
  ])("is false for ordinary prompts, paths and commands: %s", (text) => {
    expect(mayHoldSecret(text)).toBe(false);
  });
});
