import fc from "fast-check";
import { expect, it } from "vitest";
import { maskSecrets } from "./mask.ts";
import { mayHoldSecret } from "./may-hold-secret.ts";

const SECRETS = [
  "sk-ant-api03-abcdefghij0123456789ABCDEFGHIJ",
  "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  "AKIAIOSFODNN7EXAMPLQ",
  "postgres://app:hunter22@db/main",
  "Authorization: Bearer abcdef0123456789abcdef",
  'password = "correct-horse-9"',
  "curl -u admin:s3cretpw1 https://x",
  "mysql -phunter2222",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdef\n-----END RSA PRIVATE KEY-----",
];

it("is true wherever masking changes something", () => {
  for (const secret of SECRETS) if (maskSecrets(secret) !== secret) expect(mayHoldSecret(secret)).toBe(true);
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...SECRETS,
      "key",
      "TOKEN",
      "=",
      ": ",
      '"',
      "--",
      "xoxb-",
      "eyJ",
      "npm_",
      "hf_",
      "glpat-",
      "AIza",
      "SG.",
    ),
    fc.stringMatching(/^[A-Za-z0-9_-]{6,40}$/),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), fc.constantFrom("", " ", "\n"), (words, joint) => {
      const text = words.join(joint);
      if (maskSecrets(text) !== text) expect(mayHoldSecret(text)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

it("is false for ordinary prompts", () => {
  for (const text of [
    "continue",
    "fix the failing test in src/cart.ts",
    "Why is the list empty?",
    "set up the database connection string and the auth token",
  ]) {
    expect(mayHoldSecret(text)).toBe(false);
  }
});
